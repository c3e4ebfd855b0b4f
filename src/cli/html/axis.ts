/** Chooses round values for the ticks of an axis. */
import type { Zone } from '../zone.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEPS = [
  ...[1, 5, 15, 30].map((count) => count * SECOND),
  ...[1, 5, 15, 30].map((count) => count * MINUTE),
  ...[1, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
]
const MAX_TIMES = 9
const VALUES = 6

export interface Tick {
  readonly at: number
  readonly text: string
}

/** Times are epoch ms; ticks are at round readings of a clock in the zone. */
export function timeTicks(from: number, until: number, zone: Zone): readonly Tick[] {
  const step =
    STEPS.find((one) => (until - from) / one <= MAX_TIMES) ?? Math.ceil((until - from) / MAX_TIMES / DAY) * DAY
  const ticks: Tick[] = []
  const last = zone.readingAt(until)
  for (let reading = Math.ceil(zone.readingAt(from) / step) * step; reading <= last; reading += step) {
    const [at] = zone.instantsOf(reading)
    if (at !== undefined && at >= from && at <= until) ticks.push({ at, text: readingText(reading, step) })
  }
  return ticks
}

function readingText(reading: number, step: number): string {
  const text = new Date(reading).toISOString()
  if (step >= DAY || reading % DAY === 0) return text.slice(0, 10)
  return text.slice(11, step < MINUTE ? 19 : 16)
}

/** Returns the ticks of some values; the first and the last are the ends of the axis. */
export function valueTicks(values: readonly number[]): readonly Tick[] {
  let low = Math.min(...values)
  let high = Math.max(...values)
  if (!(high > low)) [low, high] = [low - Math.max(1, Math.abs(low) / 10), low + Math.max(1, Math.abs(low) / 10)]
  const raw = (high - low) / VALUES
  const power = 10 ** Math.floor(Math.log10(raw))
  const fine = power * ([1, 2, 5, 10].find((one) => one * power >= raw) ?? 10)
  const step = values.every((value) => Number.isInteger(value)) ? Math.max(1, fine) : fine
  const digits = Math.max(0, Math.min(20, -Math.floor(Math.log10(step))))
  const first = Math.floor(low / step)
  const count = Math.ceil(high / step) - first
  return Array.from({ length: count + 1 }, (_, i) => {
    const at = (first + i) * step
    return { at, text: at.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }) }
  })
}
