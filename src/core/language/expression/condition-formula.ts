/** Conditions that only calculate with numbers, truths and texts, as data. */
import type { Formula } from '../../plug/calculation.ts'
import { asTruth, kindOf } from '../../plug/calculation.ts'
import type { Steps } from '../../plug/plug.ts'
import { formulaOfLogic } from '../logic/logic-formula.ts'
import { logicOfText } from './condition.ts'
import { formulaOf } from './formula.ts'

/** The formula of a condition in either language; undefined for any other. */
export function conditionFormula(condition: unknown): Formula | undefined {
  const logic = typeof condition === 'string' ? logicOfText(condition) : condition
  const isText = logic === undefined && typeof condition === 'string'
  const formula = asTruth(isText ? formulaOf(condition, 'streamdata') : formulaOfLogic(logic))
  return formula !== undefined && kindOf(formula) === 'truth' ? formula : undefined
}

/** A condition that compares one number of the message with one limit; undefined for any other. */
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

/** Below the limit, at it, above it. */
const STATES: Readonly<Partial<Record<string, readonly ('True' | 'False')[]>>> = {
  '<': ['True', 'False', 'False'],
  '<=': ['True', 'True', 'False'],
  '>': ['False', 'False', 'True'],
  '>=': ['False', 'True', 'True'],
  '===': ['False', 'True', 'False'],
  '!==': ['True', 'False', 'True'],
}
