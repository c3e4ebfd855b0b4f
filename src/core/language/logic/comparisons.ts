/** Implements the operations of JSON Logic that compare, calculate and decide. */
import jsonLogic from 'json-logic-js'
import { AppError, isEqual, isKnown, numberIn, ordered, slackOf, whyNoNumber, whyUnknown } from '#kernel'
import type { LogicNode } from './run.ts'
import { missing } from './variable.ts'

/** What is known about an operand before the run. */
export interface Operand {
  readonly label: string
  readonly isNothing: boolean
}

/** A sum or a difference with its largest operand. Never leaves the operation that contains it. */
export class Sized {
  readonly value: number
  readonly largest: number

  constructor(value: number, largest: number) {
    this.value = value
    this.largest = largest
  }
}

type Apply = (values: readonly unknown[], operands: readonly Operand[]) => unknown

const ORDER: ReadonlyMap<string, (a: number, b: number) => boolean> = new Map([
  ['<', (a, b) => a < b],
  ['<=', (a, b) => a <= b],
  ['>', (a, b) => a > b],
  ['>=', (a, b) => a >= b],
])
const WITHIN: ReadonlyMap<string, (difference: number, slack: number) => boolean> = new Map([
  ['<', (difference, slack) => difference < -slack],
  ['<=', (difference, slack) => difference <= slack],
  ['>', (difference, slack) => difference > slack],
  ['>=', (difference, slack) => difference >= -slack],
])
const ARITHMETIC: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ['-', (a, b) => a - b],
  ['*', (a, b) => a * b],
  ['/', (a, b) => a / b],
  ['%', (a, b) => a % b],
  ['+', (a, b) => a + b],
])

/** An empty list is false, the text "0" is true. Throws `BINDING` for an unknown value. */
export function isTruthy(value: unknown, label: string): boolean {
  if (typeof value === 'boolean') return value
  if (!isKnown(value)) throw unknown(label, value)
  return jsonLogic.truthy(value)
}

/** Returns undefined for an operator of another file. */
export function operationOf(name: string): Apply | undefined {
  const compare = ORDER.get(name)
  const within = WITHIN.get(name)
  if (compare && within) return (values, operands) => isOrdered(values, operands, compare, within)
  const calculate = ARITHMETIC.get(name)
  switch (name) {
    case '==':
    case '===':
      return (values, operands) => isSame(values, operands, name === '===')
    case '!=':
    case '!==':
      return (values, operands) => !isSame(values, operands, name === '!==')
    case '!':
      return ([value], [operand]) => !isTruthy(value, operand?.label ?? '')
    case '!!':
      return ([value], [operand]) => isTruthy(value, operand?.label ?? '')
    case 'min':
      return (values, operands) => Math.min(...numbersOf(values, operands))
    case 'max':
      return (values, operands) => Math.max(...numbersOf(values, operands))
    case 'in':
      return isAmong
  }
  if (!calculate) return undefined
  return (values, operands) => {
    const numbers = numbersOf(values, operands)
    const [first = 0] = numbers
    if (numbers.length < 2) return name === '-' ? -first : first
    return numbers.reduce(calculate)
  }
}

export function sizedOperation(name: string): Apply | undefined {
  const apply = name === '+' || name === '-' ? operationOf(name) : undefined
  return apply && ((values, operands) => new Sized(apply(values, operands) as number, largestOf(values)))
}

/** Compiles an operation to a function, which is several times faster than traversing the logic. */
export function compiled(
  name: string,
  nodes: readonly LogicNode[],
  operands: readonly Operand[],
  apply: Apply,
): LogicNode {
  const [left, right, third] = nodes
  const quick = ARITHMETIC.get(name) ?? ORDER.get(name) ?? (name === '===' || name === '==' ? same : undefined)
  if (left && right && !third && quick) {
    return (run) => {
      const a = left(run)
      const b = right(run)
      const areNumbers = typeof a === 'number' && typeof b === 'number' && Number.isFinite(a) && Number.isFinite(b)
      return areNumbers ? quick(a, b) : apply([a, b], operands)
    }
  }
  return (run) => apply(nodes.map((node) => node(run)), operands) // prettier-ignore
}

export function firstThat(nodes: readonly LogicNode[], operands: readonly Operand[], wanted: boolean): LogicNode {
  const last = nodes.length - 1
  return (run) => {
    let value: unknown
    for (const [i, node] of nodes.entries()) {
      value = node(run)
      if (i < last && isTruthy(value, operands[i]?.label ?? '') === wanted) break
    }
    return value
  }
}

function same(a: number, b: number): boolean {
  return a === b
}

function isOrdered(
  values: readonly unknown[],
  operands: readonly Operand[],
  compare: (a: number, b: number) => boolean,
  within: (difference: number, slack: number) => boolean,
): boolean {
  for (let i = 0; i + 1 < values.length; i++) {
    const pair = [values[i], values[i + 1]]
    const [a, b] = pair.map(bare)
    const [label, other] = [operands[i]?.label ?? '', operands[i + 1]?.label ?? '']
    const order = ordered(a, b)
    if (order.by === 'nothing') throw order.side === 'left' ? noNumber(label, a) : noNumber(other, b)
    if (order.by === 'decimals') {
      throw unfit(label, `and "${other}" are both texts of numbers; write {"+": [...]} around each to compare numbers`)
    }
    const isSum = pair.some((value) => value instanceof Sized)
    const holds =
      order.by === 'number' && isSum
        ? within(order.a - order.b, slackOf(largestSum(pair)))
        : compare(order.a as number, order.b as number)
    if (!holds) return false
  }
  return true
}

function isSame(values: readonly unknown[], operands: readonly Operand[], strict: boolean): boolean {
  const [a, b] = values.map(bare)
  if (operands.some(({ isNothing }) => isNothing)) return (a ?? null) === (b ?? null)
  for (const [i, value] of [a, b].entries()) if (!isKnown(value)) throw unknown(operands[i]?.label ?? '', value)
  if (typeof a === 'number' && typeof b === 'number' && values.some((value) => value instanceof Sized)) {
    return Math.abs(a - b) <= slackOf(largestSum(values))
  }
  return strict ? a === b : isEqual(a, b)
}

function isAmong([wanted, all]: readonly unknown[], operands: readonly Operand[]): boolean {
  for (const [i, value] of [wanted, all].entries()) {
    if (!isKnown(value) && operands[i]?.isNothing !== true) throw unknown(operands[i]?.label ?? '', value)
  }
  if (Array.isArray(all)) return all.some((item) => isEqual(item, wanted))
  return typeof all === 'string' && (typeof wanted === 'string' || typeof wanted === 'number')
    ? all.includes(String(wanted))
    : false
}

function bare(value: unknown): unknown {
  return value instanceof Sized ? value.value : value
}

function numbersOf(values: readonly unknown[], operands: readonly Operand[]): readonly number[] {
  return values.map((literal, i) => {
    const value = bare(literal)
    const number = numberIn(value)
    if (number === undefined) throw noNumber(operands[i]?.label ?? '', value)
    return number
  })
}

function largestOf(values: readonly unknown[]): number {
  return Math.max(
    0,
    ...values.map((value) => (value instanceof Sized ? value.largest : Math.abs(numberIn(value) ?? 0))),
  )
}

function largestSum(values: readonly unknown[]): number {
  return Math.max(0, ...values.map((value) => (value instanceof Sized ? value.largest : 0)))
}

function noNumber(label: string, value: unknown): AppError {
  return isKnown(value) ? unfit(label, whyNoNumber(value)) : unknown(label, value)
}

function unknown(label: string, value: unknown): AppError {
  return value === undefined || value === null ? missing(label) : unfit(label, whyUnknown(value))
}

function unfit(label: string, what: string): AppError {
  return new AppError('BINDING', `"${label}" ${what}`)
}
