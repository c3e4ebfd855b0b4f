/** Reads values of the message by name, for `number` and `text` of a context. */
import { AppError, countIn, isKnown, numberIn, ofData, whyNoNumber, whyUnknown } from '#kernel'
import type { NumberOptions, PlugContext } from './plug.ts'

const MAX_LISTED = 20

type Reading = Pick<PlugContext, 'streamValue' | 'streamData'>

/** Implements `PlugContext.number`. */
export function messageNumber(context: Reading, name: string, { booleans = false }: NumberOptions = {}): number {
  const raw = context.streamValue(name)
  const value = ofData(raw)
  const number = booleans ? countIn(value) : numberIn(value)
  if (number !== undefined) return number
  throw unfit(context, name, raw, 'a number', whyNoNumber)
}

/** Implements `PlugContext.text`. */
export function messageText(context: Reading, name: string): string {
  const raw = context.streamValue(name)
  const value = ofData(raw)
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || (typeof value === 'number' && isKnown(value))) return String(value)
  throw unfit(context, name, raw, 'a text', (other) =>
    typeof other === 'object' && other !== null ? whyNoNumber(other) : whyUnknown(other),
  )
}

function unfit(
  context: Reading,
  name: string,
  raw: unknown,
  wanted: string,
  why: (value: unknown) => string,
): AppError {
  if (raw === undefined) return new AppError('PLUG_FAILED', missing(name, Object.keys(context.streamData)))
  const reason = ofData(raw) === undefined ? 'is a number beyond 2^53, which may stand for another one' : why(raw)
  return new AppError('PLUG_FAILED', `the parameter "${name}" of the message must be ${wanted}, but ${reason}`)
}

function missing(name: string, names: readonly string[]): string {
  if (names.length === 0) return `the parameter "${name}" is missing, since no message has arrived`
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : ''
  return `the parameter "${name}" is missing in the message, which has ${names.slice(0, MAX_LISTED).join(', ')}${more}`
}
