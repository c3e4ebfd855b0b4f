/** Parses the durations in rules and options. */
import { AppError } from './errors.ts'

const ISO =
  /^([+-])?P(?:(\d+(?:[.,]\d+)?)W)?(?:(\d+(?:[.,]\d+)?)D)?(?:T(?=\d)(?:(\d+(?:[.,]\d+)?)H)?(?:(\d+(?:[.,]\d+)?)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/i
const SHORT = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/i
const UNIT: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

const DIGITS = String.raw`\d+(?:[.,]\d+)?`
/** JSON Schema pattern for the durations of `durationMs`; above 100 characters a match may be invalid. */
export const DURATION_PATTERN =
  String.raw`^\s*(?:\d+(?:\.\d+)?\s*(?:[Mm][Ss]|[SsMmHhDdWw])|\+?[Pp](?=.)` +
  `(?:${DIGITS}[Ww])?(?:${DIGITS}[Dd])?` +
  String.raw`(?:[Tt](?=\d)(?:${DIGITS}[Hh])?(?:${DIGITS}[Mm])?(?:${DIGITS}[Ss])?)?)\s*$`

/** Parses `PT50S`, `P1DT2H`, `5m`, `90 s` or `250ms`; rejects years and months, whose length depends on the date. */
export function durationMs(text: string): number {
  const ms = readDuration(text.trim())
  if (!Number.isFinite(ms)) {
    throw new AppError('VALIDATION', `"${text}" is not a valid duration; use a form such as PT50S, P1DT2H or 5m`)
  }
  return ms
}

function readDuration(text: string): number {
  const short = SHORT.exec(text)
  if (short) return Number(short[1]) * (UNIT[(short[2] ?? '').toLowerCase()] ?? Number.NaN)
  const iso = ISO.exec(text)
  if (!iso || !/\d/.test(text)) return Number.NaN
  const [, sign, weeks, days, hours, minutes, seconds] = iso
  const ms =
    decimal(weeks) * 604_800_000 +
    decimal(days) * 86_400_000 +
    decimal(hours) * 3_600_000 +
    decimal(minutes) * 60_000 +
    decimal(seconds) * 1000
  return sign === '-' ? -ms : ms
}

function decimal(text = '0'): number {
  return Number(text.replace(',', '.'))
}
