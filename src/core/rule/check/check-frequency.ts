/** Warns of clocks that tick too often. */
import type { Report } from './report.ts'

/** In ms; ticking more often would use up most of a machine. */
const SHORTEST = 100

/** Warns of a clock that ticks too often. `field`: setting as written; `ms`: its value. */
export function checkFrequency(field: string, ms: number | undefined, path: string, report: Report): void {
  if (ms === undefined || ms >= SHORTEST) return
  const least = field === 'pollingInterval' ? `${SHORTEST / 1000} (s)` : `${SHORTEST} (ms)`
  report.warning(
    'FREQUENCY',
    path,
    `${field} ticks every ${Number(ms.toPrecision(6))} ms`,
    `write at least ${least}; a minute is ${field === 'pollingInterval' ? '60' : '60000'}`,
  )
}
