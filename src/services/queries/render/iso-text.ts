/** Times as results write them. Many of one day come one after the other, so its text is kept. */
import { offsetMs } from '../../../series/local-periods.ts'

const DAY = 86_400_000
const HOUR = 3_600_000
const HOURS = 24
const MINUTE = 60_000
const SECOND = 1_000

/** Texts of two digits. */
const TWO = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, '0'))
/** Texts of three digits. */
const THREE = Array.from({ length: 1_000 }, (_, i) => String(i).padStart(3, '0'))

/** Makes texts of times: ISO 8601 with the offset of a zone, six digits of a second where it is not whole. */
export function isoTexts(zone: string | undefined): (time: number) => string {
  const day = dayTexts()
  return (time) => {
    const offset = zone === undefined ? 0 : offsetMs(time, zone)
    const local = time + offset
    const ms = modulo(local, 1_000)
    return `${day(local)}T${clockText(local)}${ms === 0 ? '' : `.${String(ms).padStart(3, '0')}000`}${offsetText(offset)}`
  }
}

/** Makes texts of times as CSV has them: in UTC, always with six digits. Very many of them: the text up to the hour is kept. */
export function csvTexts(): (time: number) => string {
  const day = dayTexts()
  let hour = Number.NaN
  let text = ''
  return (time) => {
    const known = Math.floor(time / HOUR)
    if (known !== hour) {
      hour = known
      text = `${day(time)}T${TWO[modulo(known, HOURS)]}:`
    }
    const rest = time - hour * HOUR
    const minute = (rest / MINUTE) | 0
    const ms = rest - minute * MINUTE
    const second = (ms / SECOND) | 0
    return `${text}${TWO[minute]}:${TWO[second]}.${THREE[ms - second * SECOND]}000Z`
  }
}

function dayTexts(): (time: number) => string {
  let known = Number.NaN
  let text = ''
  return (time) => {
    const day = Math.floor(time / DAY)
    if (day !== known) {
      text = new Date(day * DAY).toISOString().split('T')[0] ?? ''
      known = day
    }
    return text
  }
}

function clockText(time: number): string {
  const seconds = Math.floor(modulo(time, DAY) / 1_000)
  const minutes = Math.floor(seconds / 60)
  return `${TWO[Math.floor(minutes / 60)]}:${TWO[minutes % 60]}:${TWO[seconds % 60]}`
}

function offsetText(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / MINUTE)
  return `${offset < 0 ? '-' : '+'}${TWO[Math.floor(minutes / 60)]}:${TWO[minutes % 60]}`
}

/** Never below 0. */
function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}
