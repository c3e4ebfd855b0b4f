/** Parses and formats the lengths of groups and windows. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const WEEK = 7 * DAY

const NAMED: ReadonlyMap<string, number> = new Map([
  ['second', SECOND],
  ['minute', MINUTE],
  ['hour', HOUR],
  ['day', DAY],
  ['week', WEEK],
])
const UNITS: ReadonlyMap<string, number> = new Map([
  ['w', WEEK],
  ['d', DAY],
  ['h', HOUR],
  ['m', MINUTE],
  ['s', SECOND],
])
const SHORT = /^(\d{1,16})([wdhms])$/
const ISO = /^P(?:(\d{1,16})D)?(?:T(?=\d)(?:(\d{1,16})H)?(?:(\d{1,16})M)?(?:(\d{1,16}(?:[.,]\d{1,9})?)S)?)?$/i
/** ms; longer than any range between two valid Dates */
const LONGEST = 8_640_000_000_000_000

export const LENGTH =
  `(?:${[...NAMED.keys()].join('|')}|` +
  String.raw`\d{1,16}[wdhms]|[Pp](?=.)(?:\d{1,16}[Dd])?` +
  String.raw`(?:[Tt](?=\d)(?:\d{1,16}[Hh])?(?:\d{1,16}[Mm])?(?:\d{1,16}(?:[.,]\d{1,9})?[Ss])?)?)`

export const LENGTH_FORMS = `${[...NAMED.keys()].join(', ')}, a number with w, d, h, m or s such as 42m, or PnDTnHnMn.nS such as PT1H`

/** Converts `hour`, `42m` or `PT1H` to whole ms above 0; days have 24 hours. Returns undefined for anything else. */
export function lengthMs(text: string): number | undefined {
  const ms = Math.trunc(NAMED.get(text) ?? shortMs(text) ?? isoMs(text) ?? 0)
  return ms > 0 && ms <= LONGEST ? ms : undefined
}

export function lengthText(ms: number): string {
  return ms % SECOND === 0 ? `${ms / SECOND}s` : `PT${ms / SECOND}S`
}

/** Converts `42m` to ms; returns undefined for anything else. */
export function shortMs(text: string): number | undefined {
  const [, count, unit = ''] = SHORT.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (UNITS.get(unit) ?? 0)
}

function isoMs(text: string): number | undefined {
  const parts = ISO.exec(text)
  if (parts === null) return undefined
  const [, days = 0, hours = 0, minutes = 0, seconds = '0'] = parts
  // rounds to whole µs before summing: 1.001 s would become 1000.9999999999999 ms
  const fine = Math.floor(Math.round(Number(seconds.replace(',', '.')) * 1e6) / 1_000)
  return Number(days) * DAY + Number(hours) * HOUR + Number(minutes) * MINUTE + fine
}

/** `auto`, or ms above 0. */
export type Grouping = 'auto' | number

const STEPS: readonly number[] = [
  SECOND,
  5 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  WEEK,
]
const LONGEST_STEP = 4 * WEEK
const AUTO_GROUPS = 200

/** `auto`: the smallest round width that leads to at most 200 groups, up to four weeks. */
export function widthOf(grouping: Grouping, range: { readonly from: number; readonly until: number }): number {
  if (grouping !== 'auto') return grouping
  return STEPS.find((step) => step * AUTO_GROUPS >= range.until - range.from) ?? LONGEST_STEP
}
