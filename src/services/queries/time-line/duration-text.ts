/** Durations as results write them. */

const UNITS: readonly (readonly [ms: number, before: string, after: string])[] = [
  [86_400_000, 'P', 'D'],
  [3_600_000, 'PT', 'H'],
  [60_000, 'PT', 'M'],
]

/** ISO 8601 in the largest unit of days, hours, minutes and seconds that divides it: `P7D`, `PT25H`, `PT90M`, `PT1.5S`. */
export function durationText(ms: number): string {
  const [unit, before, after] = UNITS.find(([size]) => ms !== 0 && ms % size === 0) ?? [1_000, 'PT', 'S']
  return `${before}${ms / unit}${after}`
}
