/** Compiles conditions in either language: the text of an expression, or JSON Logic. */
import { AppError, isPlainObject, parsePlainJson } from '#kernel'
import { isTruthy } from '../logic/comparisons.ts'
import { compileLogic } from '../logic/json-logic.ts'
import type { LogicPath } from '../logic/run.ts'
import { compileExpression, type ExpressionOptions } from './expression.ts'
import { readsOf, type CodeReads } from './message-names.ts'
import { shorten } from './parse.ts'
import { truthOf } from './values.ts'

export interface CompiledCondition extends CodeReads {
  readonly uses: readonly LogicPath[]
  /** Throws `BINDING` when a value that the result depends on is missing, `TOO_LARGE` at the limit of work. */
  holds(lookup: (path: LogicPath) => unknown, now: number, chance?: { random(): number }): boolean
}

/**
 * JSON Logic may be an object with one operator or its text. A missing value is not 0 but an error. Throws
 * `VALIDATION`.
 */
export function compileCondition(condition: unknown, options: ExpressionOptions = {}): CompiledCondition {
  const logic = typeof condition === 'string' ? logicOfText(condition) : condition
  if (logic === undefined && typeof condition === 'string') {
    const { uses, evaluate } = compileExpression(condition, options)
    const holds: CompiledCondition['holds'] = (lookup, now, chance) =>
      truthOf(evaluate(lookup, now, chance), shorten(condition))
    return { uses, ...readsOf(uses), holds }
  }
  // JSON Logic treats other values as plain data, which would be a constant condition.
  if (!isPlainObject(logic) || Object.keys(logic).length !== 1) {
    throw new AppError(
      'VALIDATION',
      'a condition is an expression such as temperature > 25, or a JSON Logic object with one operator, such as {">":[{"var":"temperature"},25]}',
    )
  }
  const { uses, evaluate } = compileLogic(logic)
  return { uses, ...readsOf(uses), holds: (lookup) => isTruthy(evaluate(lookup), 'the condition') }
}

/** Parses the JSON object in a text; undefined for an expression. */
export function logicOfText(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    return parsePlainJson(text)
  } catch {
    return undefined
  }
}
