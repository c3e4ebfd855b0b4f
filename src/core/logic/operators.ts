import { atMost, contains, isTruthy, lessThan, looseEquals, toNumber, toSummand } from './coercion.ts'
import { LIBRARY_OPERATORS, libraryNode } from './library.ts'
import type { LogicNode } from './run.ts'

/** An operator whose arguments all mean what they mean outside of it. */
export interface Operator {
  /** how many arguments it takes */
  readonly arity: readonly [min: number, max: number]
  /** `fixed` gives the value of an argument that never changes, undefined for the others */
  build(args: readonly LogicNode[], fixed: (node: LogicNode) => unknown): LogicNode
}

const MANY = Number.POSITIVE_INFINITY
const NOTHING: LogicNode = () => null

/** Operators with one, two or any number of arguments, by name. */
export const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['==', binary(looseEquals)],
  ['===', binary((a, b) => a === b)],
  ['!=', binary((a, b) => !looseEquals(a, b))],
  ['!==', binary((a, b) => a !== b)],
  [
    '>',
    order(
      (a, b) => a > b,
      (a, b) => lessThan(b, a),
      false,
    ),
  ],
  [
    '>=',
    order(
      (a, b) => a >= b,
      (a, b) => atMost(b, a),
      false,
    ),
  ],
  ['<', order((a, b) => a < b, lessThan, true)],
  ['<=', order((a, b) => a <= b, atMost, true)],
  ['!', unary((value) => !isTruthy(value))],
  ['!!', unary(isTruthy)],
  ['/', binary((a, b) => toNumber(a) / toNumber(b))],
  ['in', binary((value, list) => contains(list, value))],
  ['%', binary((a, b) => toNumber(a) % toNumber(b))],
  ['*', { arity: [1, MANY], build: product }],
  ['min', { arity: [0, MANY], build: (args) => extreme(args, Math.min, Number.POSITIVE_INFINITY) }],
  ['max', { arity: [0, MANY], build: (args) => extreme(args, Math.max, Number.NEGATIVE_INFINITY) }],
  ['+', { arity: [0, MANY], build: sum }],
  ['-', { arity: [1, 2], build: difference }],
  ['and', { arity: [1, MANY], build: (args) => firstThat(args, isFalsy) }],
  ['or', { arity: [1, MANY], build: (args) => firstThat(args, isTruthy) }],
  ['if', { arity: [0, MANY], build: choice }],
  ['?:', { arity: [0, MANY], build: choice }],
  ...LIBRARY_OPERATORS.map((name): [string, Operator] => [
    name,
    { arity: name === 'substr' ? [2, 3] : [0, MANY], build: (args) => libraryNode(name, args) },
  ]),
])

function unary(apply: (value: unknown) => unknown): Operator {
  return {
    arity: [1, 1],
    build([of = NOTHING]) {
      return (run, item) => apply(of(run, item))
    },
  }
}

function binary(apply: (a: unknown, b: unknown) => unknown): Operator {
  return {
    arity: [2, 2],
    build([left = NOTHING, right = NOTHING]) {
      return (run, item) => apply(left(run, item), right(run, item))
    },
  }
}

/** Comparing by size. Nearly all of it is a value beside a number that is written in the logic. */
function order(
  numbers: (a: number, b: number) => boolean,
  inOrder: (a: unknown, b: unknown) => boolean,
  between: boolean,
): Operator {
  return {
    arity: [2, between ? 3 : 2],
    build([low = NOTHING, middle = NOTHING, high], fixed) {
      const limit = fixed(middle)
      if (!high && typeof limit === 'number') {
        return (run, item) => {
          const value = low(run, item)
          return typeof value === 'number' ? numbers(value, limit) : inOrder(value, limit)
        }
      }
      if (!high) return (run, item) => inOrder(low(run, item), middle(run, item))
      return (run, item) => {
        const a = low(run, item)
        const b = middle(run, item)
        const c = high(run, item)
        return inOrder(a, b) && inOrder(b, c)
      }
    },
  }
}

function sum(args: readonly LogicNode[]): LogicNode {
  return (run, item) => {
    let total = 0
    for (const arg of args) total += toSummand(arg(run, item))
    return total
  }
}

function product(args: readonly LogicNode[]): LogicNode {
  const [first = NOTHING, ...others] = args
  // one factor is given back as it is
  if (others.length === 0) return first
  return (run, item) => {
    let result = toSummand(first(run, item))
    for (const other of others) result = toSummand(result) * toSummand(other(run, item))
    return result
  }
}

function extreme(args: readonly LogicNode[], choose: (a: number, b: number) => number, start: number): LogicNode {
  return (run, item) => {
    let best = start
    for (const arg of args) best = choose(best, toNumber(arg(run, item)))
    return best
  }
}

function difference(args: readonly LogicNode[]): LogicNode {
  const [left = NOTHING, right] = args
  if (!right) return (run, item) => -toNumber(left(run, item))
  return (run, item) => toNumber(left(run, item)) - toNumber(right(run, item))
}

function firstThat(args: readonly LogicNode[], decides: (value: unknown) => boolean): LogicNode {
  const [first, second] = args
  if (args.length === 2 && first && second) {
    return (run, item) => {
      const value = first(run, item)
      return decides(value) ? value : second(run, item)
    }
  }
  return (run, item) => {
    let value: unknown = null
    for (const arg of args) {
      value = arg(run, item)
      if (decides(value)) return value
    }
    return value
  }
}

function isFalsy(value: unknown): boolean {
  return !isTruthy(value)
}

function choice(args: readonly LogicNode[]): LogicNode {
  const otherwise = args.length % 2 === 1 ? args.at(-1) : undefined
  return (run, item) => {
    for (let i = 0; i + 1 < args.length; i += 2) {
      if (isTruthy(args[i]?.(run, item))) return args[i + 1]?.(run, item)
    }
    return otherwise ? otherwise(run, item) : null
  }
}
