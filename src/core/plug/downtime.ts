/** Describes the downtime of the host to plugs, and computes its effect on waits. */

/**
 * Effect of a downtime on a wait. `restart`: the wait begins again when the host starts; `continue`: the downtime
 * counts; `confirm`: the sensor shows nothing until its next run.
 */
export type DowntimePolicy = 'restart' | 'continue' | 'confirm'

export const DOWNTIME_POLICIES = ['restart', 'continue', 'confirm'] as const satisfies readonly DowntimePolicy[]

/** The last downtime that overlaps the time of a node's readings, epoch ms: values measured during it may be lost. */
export interface Downtime {
  readonly policy: Exclude<DowntimePolicy, 'continue'>
  readonly from: number
  readonly until: number
}

/** Limits a restarted wait: a wait of one day would never end on a host that restarts daily. */
const LONGEST_MS = 600_000

/** Returns the earliest end of a restarted wait, epoch ms. `whole`: length of the wait, ms. */
export function earliestEnd({ until }: Pick<Downtime, 'until'>, whole: number): number {
  return until + Math.min(whole, LONGEST_MS)
}

/**
 * Returns the end of a wait of `duration` ms from `since`, epoch ms. A wait that ended before the downtime stays ended.
 */
export function endOfWait(since: number, duration: number, downtime: Downtime | undefined): number {
  const end = since + duration
  if (downtime?.policy !== 'restart' || end <= downtime.from || since >= downtime.until) return end
  const away = downtime.until - Math.max(downtime.from, since)
  return Math.max(end + away, earliestEnd(downtime, duration))
}
