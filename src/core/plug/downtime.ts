/** Downtime of the host as plugs see it, and its effect on waits. */

/**
 * What a downtime does to a wait. `restart`: it begins again at the start of the host; `continue`: the time counts;
 * `confirm`: the sensor shows nothing until its next run.
 */
export type DowntimePolicy = 'restart' | 'continue' | 'confirm'

export const DOWNTIME_POLICIES = ['restart', 'continue', 'confirm'] as const satisfies readonly DowntimePolicy[]

/** Last downtime of the host in the time of a node's readings, epoch ms: values measured in it may be lost. */
export interface Downtime {
  readonly policy: Exclude<DowntimePolicy, 'continue'>
  readonly from: number
  readonly until: number
}

/** Cap of a restarted wait: one of a day would never end on a host that starts daily. */
const LONGEST_MS = 600_000

/** Earliest end of a restarted wait, epoch ms. `whole`: length of the wait, ms. */
export function earliestEnd({ until }: Pick<Downtime, 'until'>, whole: number): number {
  return until + Math.min(whole, LONGEST_MS)
}

/** End of a wait of `duration` ms from `since`, epoch ms. A wait that ended before the downtime stays ended. */
export function endOfWait(since: number, duration: number, downtime: Downtime | undefined): number {
  const end = since + duration
  if (downtime?.policy !== 'restart' || end <= downtime.from || since >= downtime.until) return end
  const away = downtime.until - Math.max(downtime.from, since)
  return Math.max(end + away, earliestEnd(downtime, duration))
}
