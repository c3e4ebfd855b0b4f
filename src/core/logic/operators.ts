import { atMost, contains, isTruthy, lessThan, looseEquals, toNumber, toSummand } from './coercion.ts'
import { LIBRARY_OPERATORS, libraryNode } from './library.ts'
import type { LogicNode } from './run.ts'

/** An operator whose arguments all mean what they mean outside of it. */
export interface Operator {
  /** how many arguments it takes */
  readonly arity: readonly [min: number, max: number]
  build(args: readonly LogicNode[]): LogicNode
}

const MANY = Number.POSITIVE_INFINITY
const NOTHING: LogicNode = () => null

/** Operators with one, two or any number of arguments, by name. */
export const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['==', binary(looseEquals)],
  ['===', binary((a, b) => a === b)],
  ['!=', binary((a, b) => !looseEquals(a, b))],
  ['!==', binary((a, b) => a !== b)],
  ['>', binary((a, b) => lessThan(b, a))],
  ['>=', binary((a, b) => atMost(b, a))],
  ['<', between(lessThan)],
  ['<=', between(atMost)],
  ['!', unary((value) => !isTruthy(value))],
  ['!!', unary(isTruthy)],
  ['/', binary((a, b) => toNumber(a) / toNumber(b))],
  ['in', binary((value, list) => contains(list, value))],
  ['+', { arity: [0, MANY], build: sum }],
  ['-', { arity: [1, 2], build: difference }],
  ['and', { arity: [1, MANY], build: (args) => firstThat(args, (value) => !isTruthy(value)) }],
  ['or', { arity: [1, MANY], build: (args) => firstThat(args, isTruthy) }],
  ['if', { arity: [0, MANY], build: choice }],
  ['?:', { arity: [0, MANY], build: choice }],
  ...LIBRARY_OPERATORS.map((name): [string, Operator] => [
    name,
    { arity: libraryArity(name), build: (args) => libraryNode(name, args) },
  ]),
])

function libraryArity(name: (typeof LIBRARY_OPERATORS)[number]): readonly [number, number] {
  if (name === '%') return [2, 2]
  if (name === 'substr') return [2, 3]
  return name === '*' ? [1, MANY] : [0, MANY]
}

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

function between(inOrder: (a: unknown, b: unknown) => boolean): Operator {
  const two = binary(inOrder)
  return {
    arity: [2, 3],
    build(args) {
      const [low = NOTHING, middle = NOTHING, high] = args
      if (!high) return two.build(args)
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

function difference(args: readonly LogicNode[]): LogicNode {
  const [left = NOTHING, right] = args
  if (!right) return (run, item) => -toNumber(left(run, item))
  return (run, item) => toNumber(left(run, item)) - toNumber(right(run, item))
}

function firstThat(args: readonly LogicNode[], decides: (value: unknown) => boolean): LogicNode {
  return (run, item) => {
    let value: unknown = null
    for (const arg of args) {
      value = arg(run, item)
      if (decides(value)) return value
    }
    return value
  }
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
