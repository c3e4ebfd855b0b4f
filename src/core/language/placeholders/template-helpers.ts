/** The helpers of templates: arithmetic, dates and times. */
import { DateTime } from 'luxon'

/** Returns the text of a call, empty for meaningless arguments: a message with a gap is better than none. */
export type TemplateHelper = (args: readonly unknown[]) => string

interface HelperEntry {
  readonly helper: TemplateHelper
  readonly arguments: readonly [min: number, max: number]
  readonly usage: string
}

const MAX_INPUT = 100

/** The helpers of `{{{name a b}}}`; times are UTC, formats are luxon's. */
export const HELPERS: ReadonlyMap<string, HelperEntry> = new Map([
  ['add', arithmetic('add', (a, b) => a + b)],
  ['subtract', arithmetic('subtract', (a, b) => a - b)],
  ['multiply', arithmetic('multiply', (a, b) => a * b)],
  ['divide', arithmetic('divide', (a, b) => a / b)],
  ['date', moment('date', 'yyyy-MM-dd')],
  ['time', moment('time', 'HH:mm:ss')],
])

function arithmetic(name: string, combine: (a: number, b: number) => number): HelperEntry {
  return {
    helper([a, b]) {
      const result = combine(toNumber(a), toNumber(b))
      // 15 digits hide the noise of binary fractions: 0.1 + 0.2 reads 0.3
      return Number.isFinite(result) ? String(Number(result.toPrecision(15))) : ''
    },
    arguments: [2, 2],
    usage: `{{{${name} a b}}}`,
  }
}

function moment(name: string, defaultFormat: string): HelperEntry {
  return {
    helper([value, format]) {
      const wanted = format === undefined ? defaultFormat : format
      const time = toTime(value)
      if (!time?.isValid || typeof wanted !== 'string' || wanted.length > MAX_INPUT) return ''
      return time.toFormat(wanted)
    },
    arguments: [1, 2],
    usage: `{{{${name} value "${defaultFormat}"}}}`,
  }
}

function toNumber(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' && value.length <= MAX_INPUT ? Number(value) : Number.NaN
}

function toTime(value: unknown): DateTime | undefined {
  const ms = toNumber(value)
  if (Number.isFinite(ms)) return DateTime.fromMillis(Math.trunc(clampTime(ms)), { zone: 'utc' })
  if (typeof value !== 'string' || value.length > MAX_INPUT) return undefined
  return DateTime.fromISO(value, { zone: 'utc' })
}

/** luxon throws for milliseconds outside the range of Date instead of returning an invalid time. */
function clampTime(ms: number): number {
  return Math.min(8.64e15, Math.max(-8.64e15, ms))
}
