/** Converts conditions to formulas, if they only calculate with numbers, booleans and texts. */
import { type Formula, asTruth, kindOf, comparison, equalityTest, type Operator } from '../../plug/calculation.ts'
import type { Steps } from '../../plug/plug.ts'
import { logicOfText } from './condition.ts'
import { formulaOf, readOf } from './formula.ts'
import { isPlainObject } from '#kernel'
import { topPath } from '../logic/variable.ts'

export function conditionFormula(condition: unknown): Formula | undefined {
  const logic = typeof condition === 'string' ? logicOfText(condition) : condition
  const isText = logic === undefined && typeof condition === 'string'
  const formula = asTruth(isText ? formulaOf(condition, 'streamdata') : formulaOfLogic(logic))
  return formula !== undefined && kindOf(formula) === 'truth' ? formula : undefined
}

/** Only for a condition that compares one number of the message with one limit. */
export function conditionSteps(condition: unknown): Steps<'True' | 'False'> | undefined {
  const formula = conditionFormula(condition)
  if (typeof formula !== 'object' || !('op' in formula)) return undefined
  const [left, right] = formula.of
  const isTurned = numberOf(left) !== undefined
  const [value, cut] = isTurned ? [right, numberOf(left)] : [left, numberOf(right)]
  const states = STATES[formula.op]
  if (states === undefined || cut === undefined || typeof value !== 'object' || !('from' in value)) return undefined
  if (value.from !== 'streamdata') return undefined
  return { parameter: value.name, cuts: [cut], states: isTurned ? states.toReversed() : states }
}

function numberOf(formula: Formula | undefined): number | undefined {
  if (typeof formula !== 'object' || !('op' in formula) || formula.op !== 'negative') {
    return typeof formula === 'number' ? formula : undefined
  }
  const of = numberOf(formula.of[0])
  return of === undefined ? undefined : -of
}

const STATES: Readonly<Partial<Record<string, readonly ('True' | 'False')[]>>> = {
  '<': ['True', 'False', 'False'],
  '<=': ['True', 'True', 'False'],
  '>': ['False', 'False', 'True'],
  '>=': ['False', 'True', 'True'],
  '===': ['False', 'True', 'False'],
  '!==': ['True', 'False', 'True'],
}

const SAME: readonly Operator[] = ['>', '>=', '<', '<=', '===', '!==']
const ORDER: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ...SAME.map((operator): [string, Operator] => [operator, operator]),
  ['==', '==='],
  ['!=', '!=='],
])
const MAX_PARTS = 100

function formulaOfLogic(logic: unknown): Formula | undefined {
  let parts = 0
  const formulaOf = (logic: unknown): Formula | undefined => {
    if (++parts > MAX_PARTS) return undefined
    if (typeof logic === 'number' || typeof logic === 'boolean') return logic
    if (!isPlainObject(logic)) return undefined
    const [entry, another] = Object.entries(logic)
    if (entry === undefined || another !== undefined) return undefined
    const [name, values] = entry
    const args: readonly unknown[] = Array.isArray(values) ? values : [values]
    if (name === 'var') return variable(args)
    const equality = equalityOf(name, args)
    if (equality !== undefined) return equalityTest(equality.op, formulaOf(equality.value), equality.wanted)
    const of = args.map(formulaOf)
    return of.every((one) => one !== undefined) ? operation(name, of) : undefined
  }
  return formulaOf(logic)
}

function equalityOf(name: string, [left, right, third]: readonly unknown[]) {
  const op = ORDER.get(name)
  if ((op !== '===' && op !== '!==') || third !== undefined) return undefined
  if (isTruthOrText(right)) return { op, value: left, wanted: right } as const
  return isTruthOrText(left) ? ({ op, value: right, wanted: left } as const) : undefined
}

function isTruthOrText(value: unknown): value is boolean | string {
  return typeof value === 'boolean' || (typeof value === 'string' && !value.includes('${'))
}

function variable([name, another]: readonly unknown[]): Formula | undefined {
  if (typeof name !== 'string' || another !== undefined) return undefined
  const found = topPath(name)
  return 'path' in found ? readOf(found.path) : undefined
}

function operation(name: string, of: readonly Formula[]): Formula | undefined {
  const [first, second, third] = of
  if (first === undefined) return undefined
  if (name === '!') return second === undefined ? truths('not', of) : undefined
  if (second === undefined) return undefined
  if (name === 'and' || name === 'or') return of.reduce((left, right) => truths(name, [left, right]))
  if (third !== undefined) return undefined
  const order = ORDER.get(name)
  if (order !== undefined) return comparison(order, first, second)
  return name === '+' || name === '-' || name === '*' || name === '/' || name === '%' ? { op: name, of } : undefined
}

function truths(op: Operator, of: readonly Formula[]): Formula {
  return { op, of: of.map((one) => asTruth(one) ?? one) }
}
