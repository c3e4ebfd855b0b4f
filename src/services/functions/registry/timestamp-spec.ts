/** Parses times in queries, given as instants or ages. */
import { isoInstant } from '#kernel'

const SECOND = 1_000
const DAY = 86_400 * SECOND
const YEAR = 365.25 * DAY
/** units of ages in ms; without a unit, ms are meant */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['s', SECOND],
  ['m', 60 * SECOND],
  ['h', 3_600 * SECOND],
  ['d', DAY],
  ['w', 7 * DAY],
  ['b', YEAR / 12],
  ['y', YEAR],
])
const AGE = /^(\d{1,15})([ybwdhms]?)$/
/** numbers from here up are instants; smaller ones are ages */
const FIRST_EPOCH_MS = 100_000_000_000
const PERIOD =
  /^P(?=.)(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,9})D)?(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,12}(?:[.,]\d{1,9})?)S)?)?$/
const PERIOD_UNITS = [YEAR, YEAR / 12, DAY, 3_600 * SECOND, 60 * SECOND, SECOND]
const DATE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?)?(Z|[+-]\d{2}:\d{2})?$/

/** Returns epoch ms; undefined for another format. A time without a zone is UTC. */
export function timestampOf(text: string, now: number): number | undefined {
  const [, count, unit] = AGE.exec(text) ?? []
  if (unit === '' && Number(count) >= FIRST_EPOCH_MS) return Number(count)
  if (count !== undefined) return now - Number(count) * (UNITS.get(unit ?? '') ?? 1)
  const period = PERIOD.exec(text)
  if (period !== null) {
    return PERIOD_UNITS.reduce((left, ms, at) => left - Number((period[at + 1] ?? '0').replace(',', '.')) * ms, now)
  }
  const [, day, minutes = '00:00', seconds = ':00', zone = 'Z'] = DATE.exec(text) ?? []
  if (day === undefined) return undefined
  const instant = isoInstant(`${day}T${minutes}${seconds}${zone}`)
  return Number.isFinite(instant) ? instant : undefined
}
