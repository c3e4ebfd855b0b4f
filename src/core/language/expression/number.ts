/** Numbers as rules ask for them: a name of the message, a placeholder, or an expression. */
import { AppError, isKnown, numberIn, shown, whyNoNumber } from '#kernel'
import type { LogicPath } from '../logic/run.ts'
import type { PlugContext } from '../../plug/plug.ts'
import { compileExpression } from './expression.ts'
import { readsOf, type CodeReads } from './message-names.ts'
import { shorten } from './parse.ts'
import { readerOf } from './reader.ts'
import { unknown } from './run.ts'

/** A number, and by how much a limit may be off from it to be equal: 0, but for a sum or a difference. */
export interface NumberReading {
  readonly number: number
  readonly slack: number
}

/** A number of a message or of other nodes, as a rule asks for it. */
export interface CompiledNumber extends CodeReads {
  readonly uses: readonly LogicPath[]
  /**
   * The number now; a text counts as a plain decimal. Throws `BINDING` that names a value which is missing or unknown,
   * `PLUG_FAILED` for a value that is not a finite number.
   */
  read(context: Pick<PlugContext, 'streamValue' | 'lookup' | 'isNew' | 'now'>): NumberReading
}

/**
 * Compiles a number, or an expression for one: the name of a value of the message such as `temperature`, a
 * placeholder, or something calculated. Throws `VALIDATION`.
 */
export function compileNumber(given: unknown): CompiledNumber {
  if (typeof given === 'number' && Number.isFinite(given)) {
    const reading = { number: given, slack: 0 }
    return { uses: [], names: [], nodes: [], read: () => reading }
  }
  if (typeof given !== 'string') {
    throw new AppError(
      'VALIDATION',
      `${shown(given)} is neither a number nor an expression for one; write 21.5, temperature or nodes.<label>.rawData.<field>`,
    )
  }
  const { uses, measure } = compileExpression(given)
  return {
    uses,
    ...readsOf(uses),
    read(context) {
      const { value, slack } = measure(readerOf(context), context.now)
      return { number: numberOfCode(given, value), slack }
    },
  }
}

/** The finite number that a piece of code gave. Throws `BINDING` when that is unknown, `PLUG_FAILED` when it is something else. */
export function numberOfCode(code: string, value: unknown): number {
  const number = numberIn(value)
  if (number !== undefined) return number
  if (!isKnown(value)) throw unknown(shorten(code), value)
  throw new AppError('PLUG_FAILED', `"${shorten(code)}" must give a number, but ${whyNoNumber(value)}`)
}
