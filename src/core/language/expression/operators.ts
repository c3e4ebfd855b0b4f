/** Implements the operators of expressions, where an unknown value is an error that names it. */
import { isEqual, isKnown, slackOf } from '#kernel'
import { spend, unknown, type Code, type Run } from './run.ts'
import { isAmong, numberOf, orderOf, sameValue, textOf, truthOf } from './values.ts'

export interface Side {
  readonly code: Code
  readonly label: string
  readonly constant: boolean
  readonly value?: unknown
  /** true if the syntax makes the operand a text: other operands of `+` are then joined to it, not added */
  readonly isText?: boolean
  /** only for a sum or a difference: code that also stores the largest operand in `largest` of the run */
  readonly measured?: Code
}

type Binary = (left: Side, right: Side) => Code

/** Binary operators that always evaluate both operands, except `+` and `-`. */
export const BINARY: ReadonlyMap<string, Binary> = new Map<string, Binary>([
  [
    '<',
    order(
      (a, b) => a < b,
      (difference, slack) => difference < -slack,
    ),
  ],
  [
    '<=',
    order(
      (a, b) => a <= b,
      (difference, slack) => difference <= slack,
    ),
  ],
  [
    '>',
    order(
      (a, b) => a > b,
      (difference, slack) => difference > slack,
    ),
  ],
  [
    '>=',
    order(
      (a, b) => a >= b,
      (difference, slack) => difference >= -slack,
    ),
  ],
  ['===', equality(sameValue, false)],
  ['!==', equality(sameValue, true)],
  ['==', equality(looselySame, false)],
  ['!=', equality(looselySame, true)],
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
    ({ code, label }) =>
      (run, frame) =>
        !truthOf(code(run, frame), label),
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
type CompareWithin = (difference: number, slack: number) => boolean

function order(compare: Compare, within: CompareWithin): Binary {
  return (left, right) => {
    const a = left.code
    const b = right.code
    if (left.measured || right.measured) return measuredOrder(left, right, within)
    const limit = limitOf(right)
    if (limit !== undefined) return (run, frame) => compare(numberOf(a(run, frame), left.label), limit)
    const least = limitOf(left)
    if (least !== undefined) return (run, frame) => compare(least, numberOf(b(run, frame), right.label))
    return (run, frame) => {
      const first = a(run, frame)
      const second = b(run, frame)
      if (
        typeof first === 'number' &&
        typeof second === 'number' &&
        Number.isFinite(first) &&
        Number.isFinite(second)
      ) {
        return compare(first, second)
      }
      const { values } = orderOf(run, first, second, left.label, right.label)
      // the casts satisfy the compiler: texts must be compared as texts
      return compare(values[0] as number, values[1] as number)
    }
  }
}

function limitOf({ constant, value }: Side): number | undefined {
  return constant && typeof value === 'number' && !Number.isNaN(value) ? value : undefined
}

/** Compiles `low <= value && value <= high` so that each operand is evaluated once. */
export function betweenSides(value: Side, low: Side, high: Side): Code {
  return (run, frame) => {
    const [x, ofX] = [sizedValue(value, run, frame), run.largest]
    const [least, ofLeast] = [sizedValue(low, run, frame), run.largest]
    const [most, ofMost] = [sizedValue(high, run, frame), run.largest]
    for (const [side, one] of [
      [value, x],
      [low, least],
      [high, most],
    ] as const) {
      if (!isKnown(one)) throw unknown(side.label, one)
    }
    return (
      isAtMost(orderOf(run, least, x, low.label, value.label).values, slackOf(Math.max(ofX, ofLeast))) &&
      isAtMost(orderOf(run, x, most, value.label, high.label).values, slackOf(Math.max(ofX, ofMost)))
    )
  }
}

function isAtMost([a, b]: readonly [number, number] | readonly [string, string], slack: number): boolean {
  return typeof a === 'number' && typeof b === 'number' ? a - b <= slack : a <= b
}

/** Compares with a sum or difference, which equals the limit if it is within rounding error. */
function measuredOrder(left: Side, right: Side, within: CompareWithin): Code {
  return (run, frame) => {
    const first = sizedValue(left, run, frame)
    const largest = run.largest
    const second = sizedValue(right, run, frame)
    const slack = slackOf(Math.max(largest, run.largest))
    const { values } = orderOf(run, first, second, left.label, right.label)
    const [a, b] = values
    if (typeof a === 'number' && typeof b === 'number') return within(a - b, slack)
    return within(a === b ? 0 : a < b ? -1 : 1, 0)
  }
}

/** Returns the value of an operand; sets `largest` of the run to the largest part of a sum, otherwise to 0. */
function sizedValue({ code, measured }: Side, run: Run, frame: Parameters<Code>[1]): unknown {
  if (measured) return measured(run, frame)
  const value = code(run, frame)
  run.largest = 0
  return value
}

/** `x == null` and `x === undefined` test whether a value is missing; any other comparison needs a value. */
function equality(same: (run: Run, a: unknown, b: unknown) => boolean, negated: boolean): Binary {
  return (left, right) => {
    const a = left.code
    const b = right.code
    if (isConstantMissing(left) || isConstantMissing(right)) {
      const strict = same === sameValue
      return (run, frame) => areBothMissing(a(run, frame), b(run, frame), strict) !== negated
    }
    const sums = left.measured !== undefined || right.measured !== undefined
    return (run, frame) => {
      const first = sums ? sizedValue(left, run, frame) : a(run, frame)
      const largest = run.largest
      const second = sums ? sizedValue(right, run, frame) : b(run, frame)
      if (!isKnown(first)) throw unknown(left.label, first)
      if (!isKnown(second)) throw unknown(right.label, second)
      if (sums && typeof first === 'number' && typeof second === 'number') {
        return Math.abs(first - second) <= slackOf(Math.max(largest, run.largest)) !== negated
      }
      return same(run, first, second) !== negated
    }
  }
}

function looselySame(run: Run, a: unknown, b: unknown): boolean {
  return typeof a === typeof b ? sameValue(run, a, b) : isEqual(a, b)
}

function areBothMissing(a: unknown, b: unknown, strict: boolean): boolean {
  return strict ? a === b : (a ?? null) === (b ?? null)
}

function isConstantMissing(side: Side): boolean {
  return side.constant && (side.value === null || side.value === undefined)
}

function arithmetic(apply: (a: number, b: number) => number): Binary {
  return (left, right) => {
    const a = left.code
    const b = right.code
    return (run, frame) => apply(numberOf(a(run, frame), left.label), numberOf(b(run, frame), right.label))
  }
}

function membership(left: Side, right: Side): Code {
  const a = left.code
  const b = right.code
  return (run, frame) => {
    const wanted = a(run, frame)
    const all = b(run, frame)
    if (!isKnown(wanted) && !isConstantMissing(left)) throw unknown(left.label, wanted)
    if (!isKnown(all)) throw unknown(right.label, all)
    return isAmong(run, wanted, all, left.label, right.label)
  }
}

/** Numbers are added if one side is a number; two texts are joined, as is anything with a text literal. */
export function sum(operator: '+' | '-', left: Side, right: Side): Pick<Side, 'code' | 'isText' | 'measured'> {
  if (operator === '+' && (left.isText === true || right.isText === true)) {
    return { isText: true, code: (run, frame) => join(run, left.code(run, frame), right.code(run, frame), left, right) }
  }
  const a = left.code
  const b = right.code
  const apply = operator === '-' ? subtract : add
  return {
    code: (run, frame) => apply(run, a(run, frame), b(run, frame), left, right),
    measured(run, frame) {
      const first = left.measured ? left.measured(run, frame) : a(run, frame)
      const ofFirst = left.measured ? run.largest : first
      const second = right.measured ? right.measured(run, frame) : b(run, frame)
      const ofSecond = right.measured ? run.largest : second
      const value = apply(run, first, second, left, right)
      run.largest = typeof value === 'number' ? Math.max(Math.abs(Number(ofFirst)), Math.abs(Number(ofSecond))) : 0
      return value
    },
  }
}

function subtract(_: Run, first: unknown, second: unknown, left: Side, right: Side): number {
  return numberOf(first, left.label) - numberOf(second, right.label)
}

function add(run: Run, first: unknown, second: unknown, left: Side, right: Side): unknown {
  if (typeof first === 'string' && typeof second === 'string') return join(run, first, second, left, right)
  return numberOf(first, left.label) + numberOf(second, right.label)
}

function join(run: Run, first: unknown, second: unknown, left: Side, right: Side): string {
  if (!isKnown(first)) throw unknown(left.label, first)
  if (!isKnown(second)) throw unknown(right.label, second)
  const text = textOf(run, first, left.label) + textOf(run, second, right.label)
  spend(run, text.length)
  return text
}
