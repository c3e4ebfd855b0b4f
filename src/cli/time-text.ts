/** Formats times for the output of the command line. */
import type { Zone } from './zone.ts'

const LAST = 8_640_000_000_000_000

/** As a clock in `zone` shows it: `2025-01-31T08:00:00`, with milliseconds only if they are not zero. */
export function formatTime(instant: number, zone: Zone): string {
  const reading = zone.readingAt(instant)
  if (!Number.isFinite(reading) || Math.abs(reading) > LAST) return String(instant)
  return new Date(reading)
    .toISOString()
    .slice(0, -1)
    .replace(/\.000$/, '')
}

export function formatSpan(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(1))} s`
  const minutes = Math.round(ms / 60_000)
  const parts: [number, string][] = [
    [Math.floor(minutes / 1440), 'd'],
    [Math.floor(minutes / 60) % 24, 'h'],
    [minutes % 60, 'min'],
  ]
  const used = parts.filter(([count]) => count > 0)
  return used
    .slice(0, 2)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}
