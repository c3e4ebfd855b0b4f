/** The operators of expressions, where a missing value is an error that names it. */
import { missing, spend, type Code, type Run } from './run.ts'
import { isAmong, looselySame, numberOf, primitive, sameValue, textOf } from './values.ts'

/** One side of an operator: its code, its text for messages, and its value when that never changes. */
export interface Side {
  readonly code: Code
  readonly label: string
  readonly constant: boolean
  readonly value?: unknown
}

type Binary = (left: Side, right: Side) => Code

/** Operators with two sides whose values are both always needed. A missing value is an error that names it. */
export const BINARY: ReadonlyMap<string, Binary> = new Map<string, Binary>([
  ['<', order((a, b) => a < b)],
  ['<=', order((a, b) => a <= b)],
  ['>', order((a, b) => a > b)],
  ['>=', order((a, b) => a >= b)],
  ['===', equality(sameValue, false)],
  ['!==', equality(sameValue, true)],
  ['==', equality(looselySame, false)],
  ['!=', equality(looselySame, true)],
  ['+', sum],
  ['-', arithmetic((a, b) => a - b)],
  ['*', arithmetic((a, b) => a * b)],
  ['/', arithmetic((a, b) => a / b)],
  ['%', arithmetic((a, b) => a % b)],
  ['**', arithmetic((a, b) => a ** b)],
  ['&', arithmetic((a, b) => a & b)],
  ['|', arithmetic((a, b) => a | b)],
  ['^', arithmetic((a, b) => a ^ b)],
  ['<<', arithmetic((a, b) => a << b)],
  ['>>', arithmetic((a, b) => a >> b)],
  ['>>>', arithmetic((a, b) => a >>> b)],
  ['in', membership],
])

type Unary = (of: Side) => Code

export const UNARY: ReadonlyMap<string, Unary> = new Map<string, Unary>([
  [
    '!',
    ({ code }) =>
      (run, frame) =>
        !code(run, frame),
  ],
  [
    '-',
    ({ code, label }) =>
      (run, frame) =>
        -numberOf(code(run, frame), label),
  ],
  [
    '+',
    ({ code, label }) =>
      (run, frame) =>
        numberOf(code(run, frame), label),
  ],
  [
    '~',
    ({ code, label }) =>
      (run, frame) =>
        ~numberOf(code(run, frame), label),
  ],
  [
    'typeof',
    ({ code }) =>
      (run, frame) =>
        typeof code(run, frame),
  ],
  ['void', () => () => undefined],
])

type Compare = (a: number, b: number) => boolean

function order(compare: Compare): Binary {
  return (left, right) => {
    const a = left.code
    const b = right.code
    const fixed = right.constant && typeof right.value === 'number' ? right.value : undefined
    if (fixed !== undefined) {
      return (run, frame) => {
        const value = a(run, frame)
        return typeof value === 'number' ? compare(value, fixed) : slowOrder(compare, run, value, fixed, left, right)
      }
    }
    return (run, frame) => {
      const first = a(run, frame)
      const second = b(run, frame)
      if (typeof first === 'number' && typeof second === 'number') return compare(first, second)
      return slowOrder(compare, run, first, second, left, right)
    }
  }
}

function slowOrder(compare: Compare, run: Run, a: unknown, b: unknown, left: Side, right: Side): boolean {
  const first = primitive(a, left.label)
  const second = primitive(b, right.label)
  if (typeof first === 'string' && typeof second === 'string') spend(run, first.length / 64)
  // the casts only quiet the compiler: texts must be compared as texts
  return compare(first as number, second as number)
}

/** `x == null` and `x === undefined` ask whether there is a value; any other comparison needs one. */
function equality(same: (run: Run, a: unknown, b: unknown) => boolean, negated: boolean): Binary {
  return (left, right) => {
    const a = left.code
    const b = right.code
    if (asksForNothing(left) || asksForNothing(right)) {
      return (run, frame) => same(run, a(run, frame), b(run, frame)) !== negated
    }
    return (run, frame) => {
      const first = a(run, frame)
      const second = b(run, frame)
      if (first === undefined) throw missing(left.label)
      if (second === undefined) throw missing(right.label)
      return same(run, first, second) !== negated
    }
  }
}

function asksForNothing(side: Side): boolean {
  return side.constant && (side.value === null || side.value === undefined)
}

function arithmetic(apply: (a: number, b: number) => number): Binary {
  return (left, right) => {
    const a = left.code
    const b = right.code
    return (run, frame) => apply(numberOf(a(run, frame), left.label), numberOf(b(run, frame), right.label))
  }
}

/** Among the items of a list, or among the keys of an object. */
function membership(left: Side, right: Side): Code {
  const a = left.code
  const b = right.code
  return (run, frame) => {
    const wanted = a(run, frame)
    const all = b(run, frame)
    if (wanted === undefined) throw missing(left.label)
    if (all === undefined) throw missing(right.label)
    return isAmong(run, wanted, all, left.label, right.label)
  }
}

function sum(left: Side, right: Side): Code {
  const a = left.code
  const b = right.code
  return (run, frame) => {
    const first = a(run, frame)
    const second = b(run, frame)
    if (typeof first === 'number' && typeof second === 'number') return first + second
    if (!isTextual(first) && !isTextual(second)) return numberOf(first, left.label) + numberOf(second, right.label)
    const text = textOf(run, first, left.label) + textOf(run, second, right.label)
    spend(run, text.length)
    return text
  }
}

function isTextual(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null)
}
