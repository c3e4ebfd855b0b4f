/** A sensor that shows whether a date lies before, between or after two others. */
import { AppError, definePlug, problemsOfCode } from '#plug'

const HOUR_MS = 3_600_000
const NO_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?$/
const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/

export const isBetweenTwoDates = definePlug({
  name: 'isBetweenTwoDates',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Shows whether a date, or the current time, lies before, between or after two dates (inclusive).',
  category: 'Time',
  parameters: [],
  states: ['Between', 'Before', 'After'],
  input: {
    fromDate: {
      type: 'any',
      mandatory: true,
      description: 'the first date, ISO 8601 (UTC unless it says otherwise) or epoch ms',
      example: '2026-11-01',
    },
    untilDate: {
      type: 'any',
      mandatory: true,
      description: 'the last date, in the same forms',
      example: '2026-12-01T12:00:00Z',
    },
    eventDate: {
      type: 'any',
      description: 'date to compare, in the same forms; default: the current time',
      example: '2026-11-20',
    },
    fromDateOffsetHours: {
      type: 'double',
      defaultValue: 0,
      description: 'hours added to the first date; may be negative',
      example: -2,
    },
  },
  output: {
    from: { type: 'long', description: 'the first date with its offset, in epoch milliseconds', unit: 'ms' },
    until: { type: 'long', description: 'the last date, in epoch milliseconds', unit: 'ms' },
    event: { type: 'long', description: 'the compared date, in epoch milliseconds', unit: 'ms' },
  },
  check: ({ fromDate, untilDate, eventDate }) => [
    ...problemsOfCode('fromDate', fromDate, instantOf),
    ...problemsOfCode('untilDate', untilDate, instantOf),
    ...problemsOfCode('eventDate', eventDate, instantOf),
  ],
  execute({ properties, now }) {
    const from = instantOf(properties.fromDate) + properties.fromDateOffsetHours * HOUR_MS
    const until = instantOf(properties.untilDate)
    const event = properties.eventDate === undefined ? now : instantOf(properties.eventDate)
    if (until < from) throw new AppError('PLUG_FAILED', 'untilDate is before fromDate; swap them')
    const state = event < from ? 'Before' : event > until ? 'After' : 'Between'
    return { state, rawData: { from, until, event } }
  },
})

function instantOf(date: unknown): number {
  if (typeof date === 'number' && Number.isFinite(date)) return date
  const text = typeof date === 'string' ? date.trim() : ''
  const time = DATE.test(text) ? Date.parse(NO_ZONE.test(text) ? `${text}Z` : text) : Number.NaN
  if (Number.isFinite(time)) return time
  throw new AppError(
    'PLUG_FAILED',
    `${JSON.stringify(date)} is not a valid date; use one such as 2026-11-20T18:30:00Z, or epoch milliseconds`,
  )
}
