/** Compiles numbers in rules: a name of the message, a placeholder, or an expression. */
import { AppError, isKnown, numberIn, shown, whyNoNumber } from '#kernel'
import type { LogicPath } from '../logic/run.ts'
import type { PlugContext } from '../../plug/plug.ts'
import { compileExpression } from './expression.ts'
import { readsOf, type CodeReads } from './message-names.ts'
import { shorten } from './parse.ts'
import { readerOf } from './reader.ts'
import { unknown } from './run.ts'

/** A number and its tolerance for comparisons: 0, except for a sum or a difference. */
export interface NumberReading {
  readonly number: number
  readonly slack: number
}

export interface CompiledNumber extends CodeReads {
  readonly uses: readonly LogicPath[]
  /** A text must be a plain decimal. Throws `BINDING` for an unknown value, `PLUG_FAILED` for no finite number. */
  read(context: Pick<PlugContext, 'streamValue' | 'lookup' | 'isNew' | 'now'>): NumberReading
}

/** A name such as `temperature`, a placeholder, or a calculation. Throws `VALIDATION`. */
export function compileNumber(condition: unknown): CompiledNumber {
  if (typeof condition === 'number' && Number.isFinite(condition)) {
    const reading = { number: condition, slack: 0 }
    return { uses: [], names: [], nodes: [], read: () => reading }
  }
  if (typeof condition !== 'string') {
    throw new AppError(
      'VALIDATION',
      `${shown(condition)} is neither a number nor an expression for one; write 21.5, temperature or nodes.<label>.rawData.<field>`,
    )
  }
  const { uses, measure } = compileExpression(condition)
  return {
    uses,
    ...readsOf(uses),
    read(context) {
      const { value, slack } = measure(readerOf(context), context.now)
      return { number: numberOfCode(condition, value), slack }
    },
  }
}

/** Throws `BINDING` for an unknown value, `PLUG_FAILED` for any other that is not a finite number. */
export function numberOfCode(code: string, value: unknown): number {
  const number = numberIn(value)
  if (number !== undefined) return number
  if (!isKnown(value)) throw unknown(shorten(code), value)
  throw new AppError('PLUG_FAILED', `"${shorten(code)}" must return a number, but ${whyNoNumber(value)}`)
}
