/** Time in which the host was away, as plugs see it, and when a wait ends that it fell into. */

/**
 * What becomes of a wait that a downtime fell into. `restart`: it begins again with the start of the host; `continue`: the
 * time has passed; `confirm`: it shows nothing until the next run of the sensor.
 */
export type DowntimePolicy = 'restart' | 'continue' | 'confirm'

export const DOWNTIME_POLICIES = ['restart', 'continue', 'confirm'] as const satisfies readonly DowntimePolicy[]

/** The last downtime of the host in the time of a node's readings, epoch ms: what was measured in it may be lost. */
export interface Downtime {
  readonly policy: Exclude<DowntimePolicy, 'continue'>
  readonly from: number
  readonly until: number
}

/** A wait of at most this long begins in full again: one of a day would never end on a host that starts daily. */
const LONGEST_MS = 600_000

/** When a wait that begins again after a downtime ends at the earliest, epoch ms. `whole`: all of the wait, ms. */
export function earliestEnd({ until }: Pick<Downtime, 'until'>, whole: number): number {
  return until + Math.min(whole, LONGEST_MS)
}

/** When a wait of so many ms that began at `since` ends, epoch ms. One that was over before the downtime is over. */
export function endOfWait(since: number, duration: number, downtime: Downtime | undefined): number {
  const end = since + duration
  if (downtime?.policy !== 'restart' || end <= downtime.from || since >= downtime.until) return end
  const away = downtime.until - Math.max(downtime.from, since)
  return Math.max(end + away, earliestEnd(downtime, duration))
}
