/** Converts epoch timestamps between units, and detects a wrong unit. */

export const EPOCH_UNITS = ['s', 'ms', 'us'] as const
export type EpochUnit = (typeof EPOCH_UNITS)[number]

const NAMES: Readonly<Record<EpochUnit, string>> = { s: 'seconds', ms: 'milliseconds', us: 'microseconds' }
/** Plausible range of device timestamps: 2000 to 2100. */
const [FIRST, LAST] = [946_684_800_000, 4_102_444_800_000]

export function msOf(value: number, unit: EpochUnit): number {
  return Math.round(unit === 's' ? value * 1_000 : unit === 'us' ? value / 1_000 : value)
}

export function unitName(unit: EpochUnit): string {
  return NAMES[unit]
}

/** Returns the unit, other than ms, in which `least` to `most` lie between 2000 and 2100. */
export function otherUnitOf(least: number, most = least): EpochUnit | undefined {
  return EPOCH_UNITS.find((unit) => unit !== 'ms' && msOf(least, unit) >= FIRST && msOf(most, unit) < LAST)
}
