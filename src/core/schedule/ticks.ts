/**
 * Turns a schedule into a stream of ticks on the caller's scheduler.
 *
 * Invariants, whatever the clock does:
 * TICK-1 an occurrence ticks at most once, even after the clock was set back: the stream pauses until the clock has
 *   caught up.
 * TICK-2 an occurrence that the clock skipped ticks or is reported as skipped, as the misfire policy says.
 * TICK-3 at most one timer waits; after unsubscribing none does.
 * TICK-4 the stream ends when the schedule is exhausted, and never errors.
 */
import { Observable, type SchedulerLike, type Subscription } from 'rxjs'
import { missed, type MisfirePolicy } from './misfire.ts'
import { latestBefore } from './occurrences.ts'
import type { Schedule } from './schedule.ts'

export interface Tick {
  scheduledAt: number
  startedAt: number
}

export interface TickOptions extends Partial<MisfirePolicy> {
  /** start of the task; default: the scheduler's time on subscribing */
  start?: number
  /** last tick before a downtime; later occurrences follow `misfire`, default `skip` */
  lastTick?: number
  /** ms of lateness from which a tick counts as missed, default a minute; not applied after a downtime */
  graceMs?: number
  /** ms after which a waiting timer reads the clock again, to notice that the clock was set forward; default 24 days */
  recheckMs?: number
  /** called for skipped occurrences; the count is a lower bound when not exact */
  onSkipped?(count: number, isExact: boolean): void
}

const MAX_DELAY_MS = 2 ** 31 - 1
const DEFAULT_GRACE_MS = 60_000

export function ticks$(schedule: Schedule, scheduler: SchedulerLike, options: TickOptions = {}): Observable<Tick> {
  return new Observable((subscriber) => {
    const policy = { ...options, misfire: options.misfire ?? 'skip' }
    const graceMs = options.graceMs ?? DEFAULT_GRACE_MS
    const recheckMs = Math.min(MAX_DELAY_MS, Math.max(1, options.recheckMs ?? MAX_DELAY_MS))
    const now = scheduler.now()
    let late: readonly number[] = []
    let due: number | null
    const skip = (count: number, isExact: boolean): void => {
      if (count > 0) options.onSkipped?.(count, isExact)
    }
    if (options.lastTick === undefined) due = schedule.first(options.start ?? now)
    else {
      const downtime = missed(schedule, options.lastTick, now, policy)
      late = downtime.run
      due = downtime.next
      skip(downtime.skipped, downtime.isExact)
    }

    const tick = (occurrences: readonly number[]): void => {
      for (const scheduledAt of occurrences) {
        if (subscriber.closed) return
        subscriber.next({ scheduledAt, startedAt: scheduler.now() })
      }
    }
    const takeDue = (first: number): void => {
      const at = scheduler.now()
      if (schedule.fixedDelay) {
        due = schedule.next(at)
        return tick([first])
      }
      const latest = latestBefore(schedule, at + 1, first - 1) ?? first
      const isPunctual = at - latest <= graceMs
      const gone = missed(schedule, first - 1, isPunctual ? latest : at + 1, policy, at)
      due = schedule.next(latest)
      // with `once`, a punctual tick replaces the late one
      const run = isPunctual && policy.misfire !== 'all' ? [] : gone.run
      skip(gone.skipped + gone.run.length - run.length, gone.isExact)
      tick(isPunctual ? [...run, latest] : run)
    }
    const wake = (): void => {
      const waiting = late
      late = []
      tick(waiting)
      if (due !== null && scheduler.now() >= due) takeDue(due)
      wait()
    }
    let timer: Subscription | undefined
    const wait = (): void => {
      if (subscriber.closed) return
      if (late.length === 0 && due === null) return subscriber.complete()
      const delay = late.length > 0 || due === null ? 0 : due - scheduler.now()
      timer = scheduler.schedule(wake, Math.min(recheckMs, Math.max(0, delay)))
    }
    wait()
    return () => timer?.unsubscribe()
  })
}
