/** One value of the message as a finite number. */
import { AppError } from '../../kernel/errors.ts'
import { numberOfText } from './field-type.ts'
import type { PlugContext } from './plug.ts'
import { shown } from './problem.ts'

const MAX_LISTED = 20

/**
 * One value of the message in reach as a finite number. Numeric text counts as its number, true and false as 1 and 0.
 * Throws `PLUG_FAILED` that names the parameter, and when it is missing what the message has instead.
 */
export function streamNumber(context: Pick<PlugContext, 'streamValue' | 'streamData'>, parameter: string): number {
  const value = context.streamValue(parameter)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === undefined) throw new AppError('PLUG_FAILED', missing(parameter, Object.keys(context.streamData)))
  const number = numberOfText(value)
  if (number !== undefined) return number
  throw new AppError(
    'PLUG_FAILED',
    `the parameter "${parameter}" of the message must be a number, but is ${shown(value)}`,
  )
}

function missing(parameter: string, names: readonly string[]): string {
  if (names.length === 0) return `there is no message with the parameter "${parameter}"`
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : ''
  return `the message has no parameter "${parameter}"; it has ${names.slice(0, MAX_LISTED).join(', ')}${more}`
}
