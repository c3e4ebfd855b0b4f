/** Conditions in either language: the text of an expression, or JSON Logic. */
import { AppError, isPlainObject, parsePlainJson } from '#kernel'
import { isTruthy } from '../logic/comparisons.ts'
import { compileLogic } from '../logic/json-logic.ts'
import type { LogicPath } from '../logic/run.ts'
import { compileExpression, type ExpressionOptions } from './expression.ts'
import { readsOf, type CodeReads } from './message-names.ts'
import { shorten } from './parse.ts'
import { truthOf } from './values.ts'

/** A condition in either of the two languages. */
export interface CompiledCondition extends CodeReads {
  readonly uses: readonly LogicPath[]
  /** Throws `BINDING` when a value that decides is missing, `TOO_LARGE` when there is too much to do. */
  holds(lookup: (path: LogicPath) => unknown, now: number, chance?: { random(): number }): boolean
}

/**
 * A condition from the text of an expression, from a JSON Logic object of one operator, or from the JSON text of one.
 * In both languages a missing value is not 0: to compare its size or to calculate with it is an error.
 * Throws `VALIDATION`.
 */
export function compileCondition(given: unknown, options: ExpressionOptions = {}): CompiledCondition {
  const logic = typeof given === 'string' ? logicOfText(given) : given
  if (logic === undefined && typeof given === 'string') {
    const { uses, evaluate } = compileExpression(given, options)
    const holds: CompiledCondition['holds'] = (lookup, now, chance) =>
      truthOf(evaluate(lookup, now, chance), shorten(given))
    return { uses, ...readsOf(uses), holds }
  }
  // JSON Logic takes anything but an object of one operator as plain data, which would be a condition that never changes.
  if (!isPlainObject(logic) || Object.keys(logic).length !== 1) {
    throw new AppError(
      'VALIDATION',
      'a condition is an expression such as temperature > 25, or a JSON Logic object with one operator, such as {">":[{"var":"temperature"},25]}',
    )
  }
  const { uses, evaluate } = compileLogic(logic)
  return { uses, ...readsOf(uses), holds: (lookup) => isTruthy(evaluate(lookup), 'the condition') }
}

/** The JSON object that a text holds; undefined when it is an expression. */
export function logicOfText(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    return parsePlainJson(text)
  } catch {
    return undefined
  }
}
