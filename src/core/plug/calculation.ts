/**
 * Represents the calculations of sensors as data: formulas over numbers, booleans and texts that an engine may evaluate
 * without calling the plug.
 */
import { slackOf } from '#kernel'

/**
 * Arithmetic operators map numbers to a number, order operators map numbers to a boolean, and truth operators map
 * booleans to a boolean. `?` chooses between two operands of one kind.
 */
export const OPERATORS = {
  arithmetic: ['+', '-', '*', '/', '%'],
  order: ['<', '<=', '>', '>=', '===', '!=='],
  truth: ['and', 'or'],
  one: ['negative', 'abs', 'ceil', 'floor', 'round', 'trunc', 'sign', 'sqrt'],
  many: ['min', 'max'],
} as const

export type Operator = (typeof OPERATORS)[keyof typeof OPERATORS][number] | 'not' | '?'

export type Formula = number | boolean | FormulaRead | FormulaTest | FormulaOperation

/**
 * Reads a number from the properties, the message, this sensor's raw data computed so far, or another node's raw data.
 */
export type FormulaRead =
  | { readonly from: 'properties' | 'streamdata' | 'rawData'; readonly name: string }
  | { readonly from: 'nodes'; readonly node: string; readonly name: string }

/** Tests whether a value of the message equals this boolean or text. */
export interface FormulaTest {
  readonly from: 'streamdata'
  readonly name: string
  readonly is: boolean | string
}

export interface FormulaOperation {
  readonly op: Operator
  readonly of: readonly Formula[]
}

/** A formula as a plug author writes it: `value * factor + offset > limit`, where bare names are properties. */
export type WrittenFormula = string | Formula

export interface Calculation<State extends string = string> {
  /** formulas of the raw data by name; each may read the ones above it as `rawData.<name>` */
  readonly rawData?: Readonly<Record<string, WrittenFormula>>
  /** the state is the first one whose formula is true ... */
  readonly states?: Readonly<Partial<Record<State, WrittenFormula>>>
  /** ... otherwise this state */
  readonly otherwise: State
}

/** Returns the result kind of a formula; undefined if the value is not a formula. */
export function kindOf(formula: unknown): 'number' | 'truth' | undefined {
  if (typeof formula === 'number') return 'number'
  if (typeof formula === 'boolean') return 'truth'
  if (typeof formula !== 'object' || formula === null) return undefined
  if ('is' in formula) return 'truth'
  if ('from' in formula) return 'number'
  const { op, of } = formula as Partial<FormulaOperation>
  if (typeof op !== 'string' || !Array.isArray(of)) return undefined
  const kinds = of.map(kindOf)
  const areAll = (kind: 'number' | 'truth', least: number, most: number) => {
    return kinds.length >= least && kinds.length <= most && kinds.every((one) => one === kind)
  }
  if (isIn(OPERATORS.arithmetic, op)) return areAll('number', 2, 2) ? 'number' : undefined
  if (isIn(OPERATORS.order, op)) return areAll('number', 2, 2) ? 'truth' : undefined
  if (isIn(OPERATORS.truth, op)) return areAll('truth', 2, 2) ? 'truth' : undefined
  if (isIn(OPERATORS.one, op)) return areAll('number', 1, 1) ? 'number' : undefined
  if (isIn(OPERATORS.many, op)) return areAll('number', 2, 2) ? 'number' : undefined
  if (op === 'not') return areAll('truth', 1, 1) ? 'truth' : undefined
  const [test, yes, no] = kinds
  return op === '?' && kinds.length === 3 && test === 'truth' && yes === no ? yes : undefined
}

/** Converts a formula to a condition: a bare message value becomes a comparison with true. */
export function asTruth(formula: Formula | undefined): Formula | undefined {
  if (typeof formula !== 'object' || !('from' in formula) || 'is' in formula) return formula
  return formula.from === 'streamdata' ? { from: 'streamdata', name: formula.name, is: true } : formula
}

/** Builds a comparison of a message value with a boolean or text; undefined for any other operand. */
export function equalityTest(op: '===' | '!==', value: Formula | undefined, is: boolean | string): Formula | undefined {
  if (typeof value !== 'object' || !('from' in value) || 'is' in value || value.from !== 'streamdata') return undefined
  const test: Formula = { from: 'streamdata', name: value.name, is }
  return op === '===' ? test : { op: 'not', of: [test] }
}

/**
 * Builds a comparison with the tolerance that rules use: a sum or difference equals a limit if it is within rounding
 * error.
 */
export function comparison(op: Operator, left: Formula, right: Formula): Formula {
  const [ofLeft, ofRight] = [largestOperand(left), largestOperand(right)]
  const both = ofLeft && ofRight ? maxOf(ofLeft, ofRight) : (ofLeft ?? ofRight)
  if (both === undefined) return { op, of: [left, right] }
  const slack: Formula = { op: '*', of: [slackOf(1), both] }
  const difference: Formula = { op: '-', of: [left, right] }
  const size: Formula = { op: 'abs', of: [difference] }
  const below: Formula = { op: 'negative', of: [slack] }
  switch (op) {
    case '<':
    case '>=':
      return { op, of: [difference, below] }
    case '===':
      return { op: '<=', of: [size, slack] }
    case '!==':
      return { op: '>', of: [size, slack] }
    default:
      return { op, of: [difference, slack] }
  }
}

/**
 * Returns the largest magnitude in a sum or difference, looking through sign and absolute value; undefined for other
 * formulas.
 */
function largestOperand(formula: Formula): Formula | undefined {
  if (typeof formula !== 'object' || !('op' in formula)) return undefined
  const { op, of } = formula
  const [first, second] = of
  if (first === undefined) return undefined
  if (op === 'abs' || op === 'negative') return largestOperand(first)
  if ((op !== '+' && op !== '-') || second === undefined) return undefined
  return maxOf(largestOperand(first) ?? sizeOf(first), largestOperand(second) ?? sizeOf(second))
}

function sizeOf(formula: Formula): Formula {
  return typeof formula === 'number' ? Math.abs(formula) : { op: 'abs', of: [formula] }
}

function maxOf(a: Formula, b: Formula): Formula {
  return { op: 'max', of: [a, b] }
}

function isIn(list: readonly string[], op: string): boolean {
  return list.includes(op)
}
