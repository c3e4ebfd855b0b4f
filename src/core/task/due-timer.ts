/** The timers of the rule's own time, for a task that has fallen behind the clock: they take their place among its inputs. */
import type { TimerKind } from './input.ts'
import type { TaskRun } from './run.ts'

export interface DueTimer {
  readonly kind: TimerKind
  readonly key: number
  /** epoch ms */
  readonly at: number
}

/** The earliest that is due by `until`; at one time evictions, then what follows results, then waits, by place of the node. */
export function earliestDue({ state }: TaskRun, until: number): DueTimer | undefined {
  const { work } = state
  if (work === null) return undefined
  let found: DueTimer | undefined
  let at = until
  const see = (kind: TimerKind, key: number, due: number): void => {
    if (due < at || (due === at && found === undefined)) {
      found = { kind, key, at: due }
      at = due
    }
  }
  for (const [slot, { evictAt }] of work.sensors.entries()) see('evict', slot, evictAt)
  for (const [slot, { follow }] of work.sensors.entries()) if (follow !== null) see('follow', slot, follow.at)
  for (const [slot, { running }] of work.sensors.entries()) {
    if (running?.phase === 'holding' || running?.phase === 'paused') see('wake', slot, running.wakeAt)
  }
  return found
}
