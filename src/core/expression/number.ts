/** Numbers as rules ask for them: a name of the message, a placeholder, or an expression. */
import { AppError } from '../../kernel/errors.ts'
import type { LogicPath } from '../logic/run.ts'
import { numberOfText } from '../../kernel/values.ts'
import type { PlugContext } from '../plug/plug.ts'
import { shown } from '../plug/problem.ts'
import { compileExpression } from './expression.ts'
import { messageNames } from './message-names.ts'
import { readerOf } from './reader.ts'

/** A number of a message or of other nodes, as a rule asks for it. */
export interface CompiledNumber {
  readonly uses: readonly LogicPath[]
  /** of the values of the message that it reads */
  readonly names: readonly string[]
  /**
   * The number now. Numeric text counts as its number, true and false as 1 and 0. Throws `BINDING` that names a value
   * which is missing, `PLUG_FAILED` for what is no finite number.
   */
  read(context: Pick<PlugContext, 'streamValue' | 'lookup' | 'isNew' | 'now'>): number
}

/**
 * Compiles a number, or an expression for one: the name of a value of the message such as `temperature`, a
 * placeholder, or something calculated. Throws `VALIDATION`.
 */
export function compileNumber(given: unknown): CompiledNumber {
  if (typeof given === 'number' && Number.isFinite(given)) return { uses: [], names: [], read: () => given }
  if (typeof given !== 'string') {
    throw new AppError(
      'VALIDATION',
      `${shown(given)} is neither a number nor an expression for one; write 21.5, temperature or nodes.<label>.rawData.<field>`,
    )
  }
  const { uses, evaluate } = compileExpression(given)
  const absent = `"${given}" has no value, so nothing can be said`
  return {
    uses,
    names: messageNames(uses),
    read(context) {
      const value = evaluate(readerOf(context), context.now)
      if (typeof value === 'number' && Number.isFinite(value)) return value
      if (typeof value === 'boolean') return value ? 1 : 0
      if (value === undefined) throw new AppError('BINDING', absent)
      const number = numberOfText(value)
      if (number !== undefined) return number
      throw new AppError('PLUG_FAILED', `"${given}" must give a number, but is ${shown(value)}`)
    },
  }
}
