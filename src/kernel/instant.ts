/** Instants as ISO 8601 writes them. */

const ISO = /^((\d{4})-(\d{2})-(\d{2}))(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/i
/** ms before and after 1970 that a date of the language can have */
const FARTHEST = 8_640_000_000_000_000
/** Days that every month has. */
const DAYS_IN_ALL = 28

/** Epoch ms of an ISO 8601 text, UTC without an offset; NaN for anything else, a day that no calendar has among it. */
export function isoInstant(text: string): number {
  const parts = ISO.exec(text.trim())
  if (!parts) return Number.NaN
  const [, date, year, month, day, time = '00:00', zone = 'Z'] = parts
  // the runtime takes 30 February for 2 March
  if (Number(day) > DAYS_IN_ALL && Number(day) > daysIn(Number(year), Number(month))) return Number.NaN
  return Date.parse(`${date}T${time.replace(',', '.')}${zone.toUpperCase()}`)
}

/** Whether a number is epoch ms that a calendar can show. */
export function isInstant(ms: number): boolean {
  return Math.abs(ms) <= FARTHEST
}

/** What is wrong with a value that is no instant: it `is no time`, or also which day it names that there is not. */
export function notAnInstant(value: unknown): string {
  const [, date, year, month, day] = typeof value === 'string' ? (ISO.exec(value.trim()) ?? []) : []
  const days = daysIn(Number(year), Number(month))
  // a month that does not exist has NaN days or those of another year
  const isMonth = Number(month) >= 1 && Number(month) <= 12
  if (date === undefined || !isMonth || (Number(day) >= 1 && Number(day) <= days)) return 'is no time'
  return `is no time: there is no day ${date}, that month has ${days}`
}

function daysIn(year: number, month: number): number {
  const last = new Date(0)
  last.setUTCFullYear(year, month, 0)
  return last.getUTCDate()
}
