/** Schemas of the parameters of queries in PromQL, and their times and durations. */
import { type TSchema, Type } from 'typebox'
import { AppError, isInstant, isoInstant, messageOf } from '#kernel'
import { checked, closed, type Problem, refined, text } from '#services/shared/contract'
import { parseQuery, parseSelector, promDuration } from './promql.ts'

const LONGEST = 10_000

/** Parses Unix seconds or ISO 8601 to epoch ms. Throws `VALIDATION`. */
export function timeOf(sent: string): number {
  const ms = /^-?\d{1,13}(?:\.\d{1,20})?$/.test(sent) ? Math.round(Number(sent) * 1_000) : isoInstant(sent)
  if (isInstant(ms)) return ms
  const text = JSON.stringify(sent.slice(0, 100))
  throw new AppError('VALIDATION', `${text} is not a time; use Unix seconds or ISO 8601`)
}

/** Parses seconds, or a duration such as `1m`, to ms. Throws `VALIDATION`. */
export function stepOf(sent: string): number {
  const ms = /^\d{1,9}(?:\.\d{1,20})?$/.test(sent) ? Number(sent) * 1_000 : promDuration(sent)
  if (ms >= 1) return ms
  throw new AppError('VALIDATION', `"${sent.slice(0, 100)}" is not a step; use seconds or a duration such as 1m`)
}

function wholeOf(sent: string): number {
  if (/^\d{1,15}$/.test(sent)) return Number(sent)
  throw new AppError('VALIDATION', `"${sent.slice(0, 100)}" is not a number`)
}

/** A text that `read` accepts; empty counts as absent for optional fields. */
function readBy(read: (sent: string) => unknown, description: string, mayBeEmpty = true) {
  return refined(
    text(LONGEST, { ...(mayBeEmpty ? {} : { minLength: 1 }), description }),
    (value): readonly Problem[] => {
      if (typeof value !== 'string' || value === '' || value.length > LONGEST) return []
      try {
        read(value)
        return []
      } catch (error) {
        return [{ message: messageOf(error) }]
      }
    },
  )
}

const needed = (read: (sent: string) => unknown, description: string) => readBy(read, description, false)
const option = (read: (sent: string) => unknown, description: string) => Type.Optional(readBy(read, description))

const UNUSED = {
  timeout: option(stepOf, 'accepted, and without effect'),
  limit: option(wholeOf, 'accepted, and without effect'),
  stats: option(() => undefined, 'accepted, and without effect'),
}
const SHARED = {
  query: needed(parseQuery, 'a query in the supported part of PromQL'),
  lookback_delta: option(stepOf, 'duration for which a sample is current; default 5m'),
  ...UNUSED,
}
export const INSTANT = { ...SHARED, time: option(timeOf, 'Unix seconds or ISO 8601; default: now') }
export const RANGE = {
  ...SHARED,
  start: needed(timeOf, 'first time: Unix seconds or ISO 8601'),
  end: needed(timeOf, 'last time: Unix seconds or ISO 8601'),
  step: needed(stepOf, 'seconds, or a duration such as 1m'),
}
const WITHIN = {
  start: option(timeOf, 'accepted, and without effect'),
  end: option(timeOf, 'accepted, and without effect'),
}
const MATCHES = 'only series that match one of these selectors'
const selector = needed(parseSelector, 'a selector such as {resource="r"}')
export const MATCH = {
  'match[]': Type.Optional(Type.Array(selector, { maxItems: 100, description: MATCHES })),
  ...WITHIN,
  ...UNUSED,
}
export const NEEDED_MATCH = {
  ...MATCH,
  'match[]': Type.Array(selector, { minItems: 1, maxItems: 100, description: MATCHES }),
}

const form = <const P extends Record<string, TSchema>>(fields: P, title: string) =>
  checked(closed(fields, { title }), { subject: 'The form', type: 'QUERY' })
export const InstantForm = form(INSTANT, 'PrometheusQuery')
export const RangeForm = form(RANGE, 'PrometheusRange')
export const MatchForm = form(MATCH, 'PrometheusMatch')
export const NeededMatchForm = form(NEEDED_MATCH, 'PrometheusSeries')

export const AnswerSchema = Type.Object(
  { status: Type.Enum(['success']), data: Type.Unknown({ description: 'as Prometheus returns it' }) },
  { title: 'PrometheusAnswer' },
)
export const ErrorSchema = Type.Object(
  { status: Type.Enum(['error']), errorType: Type.String(), error: Type.String() },
  { title: 'PrometheusError' },
)
