/** Parses and checks instants in ISO 8601 form. */

const ISO = /^((\d{4})-(\d{2})-(\d{2}))(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/i
/** largest distance from 1970 that Date supports, in ms */
const FARTHEST = 8_640_000_000_000_000
const DAYS_IN_ALL = 28

/**
 * Parses ISO 8601 to epoch ms, assuming UTC when the offset is missing. Returns NaN for a malformed text or a day that
 * does not exist.
 */
export function isoInstant(text: string): number {
  const parts = ISO.exec(text.trim())
  if (!parts) return Number.NaN
  const [, date, year, month, day, time = '00:00', zone = 'Z'] = parts
  // Date.parse reads 30 February as 2 March
  if (Number(day) > DAYS_IN_ALL && Number(day) > daysIn(Number(year), Number(month))) return Number.NaN
  return Date.parse(`${date}T${time.replace(',', '.')}${zone.toUpperCase()}`)
}

/** True for epoch ms within the range of Date. */
export function isInstant(ms: number): boolean {
  return Math.abs(ms) <= FARTHEST
}

/** Explains why a value is not an instant, such as `is not a valid time`; names the day if it does not exist. */
export function notAnInstant(value: unknown): string {
  const [, date, year, month, day] = typeof value === 'string' ? (ISO.exec(value.trim()) ?? []) : []
  const days = daysIn(Number(year), Number(month))
  // for a month that does not exist, `days` is NaN or belongs to another year
  const isMonth = Number(month) >= 1 && Number(month) <= 12
  if (date === undefined || !isMonth || (Number(day) >= 1 && Number(day) <= days)) return 'is not a valid time'
  return `is not a valid time: day ${date} does not exist, that month has ${days}`
}

function daysIn(year: number, month: number): number {
  const last = new Date(0)
  last.setUTCFullYear(year, month, 0)
  return last.getUTCDate()
}
