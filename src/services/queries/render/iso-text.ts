/** Formats the times in results. The text of the day is cached, since consecutive times usually share it. */
import { offsetMs } from '#services/shared'

const DAY = 86_400_000
const MINUTE = 60_000

const TWO = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, '0'))

/** ISO 8601 with the offset of a zone; six fractional digits unless the second is whole. */
export function isoTexts(zone: string | undefined): (time: number) => string {
  const day = dayTexts()
  return (time) => {
    const offset = zone === undefined ? 0 : offsetMs(time, zone)
    const local = time + offset
    const ms = modulo(local, 1_000)
    return `${day(local)}T${clockText(local)}${ms === 0 ? '' : `.${String(ms).padStart(3, '0')}000`}${offsetText(offset)}`
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

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}
