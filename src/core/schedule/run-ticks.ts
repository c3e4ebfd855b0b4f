/**
 * Work that ticks start, and what happens to a tick while the work of an earlier one is not done (task setting `overlap`).
 *
 * Invariants:
 * I1 every tick is reported exactly once, unless the stream is left before.
 * I2 at most one work counts as running; only `cancelPrevious` starts another before it ended, after aborting its signal.
 * I3 failing work is reported and ends nothing.
 */
import { Observable, type SchedulerLike, type Subscription } from 'rxjs'
import type { Schedule } from './schedule.ts'
import type { Tick } from './ticks.ts'

export type OverlapPolicy = 'skip' | 'queue' | 'cancelPrevious'

/** What a tick starts. A promise makes it last; the signal is aborted when it is superseded or nobody listens any more. */
export type TickWork = (tick: Tick, signal: AbortSignal) => unknown

export interface RunReport {
  tick: Tick
  /** `skipped`: work was running; `dropped`: the queue was full; `cancelled`: a later tick took over */
  outcome: 'done' | 'failed' | 'skipped' | 'dropped' | 'cancelled'
  /** what was thrown, for `failed` */
  error?: unknown
}

export interface RunOptions {
  overlap?: OverlapPolicy
  /** how many ticks `queue` holds at most, default 100; later ones are dropped */
  queueSize?: number
}

const DEFAULT_QUEUE_SIZE = 100
/** Longest delay that timers take. */
const MAX_DELAY_MS = 2 ** 31 - 1

/** Runs the work of each tick under the policy, default `skip`. Work without a promise runs and ends at once. */
export function runTicks(ticks: Observable<Tick>, work: TickWork, options: RunOptions = {}): Observable<RunReport> {
  const { overlap = 'skip', queueSize = DEFAULT_QUEUE_SIZE } = options
  return new Observable((subscriber) => {
    const queue: Tick[] = []
    let running: { tick: Tick; abort: AbortController } | undefined
    let hasEnded = false

    const begin = (tick: Tick): void => {
      const own = { tick, abort: new AbortController() }
      running = own
      const end = (report: RunReport): void => {
        if (running !== own) return
        running = undefined
        subscriber.next(report)
        const waiting = queue.shift()
        if (waiting) begin(waiting)
        else if (hasEnded && !running) subscriber.complete()
      }
      perform(work, tick, own.abort.signal, end)
    }
    const take = (tick: Tick): void => {
      if (!running) return begin(tick)
      if (overlap === 'skip') return subscriber.next({ tick, outcome: 'skipped' })
      if (overlap === 'queue') {
        if (queue.length < queueSize) queue.push(tick)
        else subscriber.next({ tick, outcome: 'dropped' })
        return
      }
      const previous = running
      running = undefined
      previous.abort.abort()
      subscriber.next({ tick: previous.tick, outcome: 'cancelled' })
      begin(tick)
    }

    subscriber.add(() => {
      queue.length = 0
      const last = running
      running = undefined
      last?.abort.abort()
    })
    subscriber.add(
      ticks.subscribe({
        next: take,
        error: (error: unknown) => subscriber.error(error),
        complete: () => {
          hasEnded = true
          if (!running) subscriber.complete()
        },
      }),
    )
  })
}

/** Runs the work of a fixed delay: each next tick counts from the end of the work before (`pollingFixedRate: false`). */
export function runFixedDelay(schedule: Schedule, scheduler: SchedulerLike, work: TickWork): Observable<RunReport> {
  return new Observable((subscriber) => {
    let abort: AbortController | undefined
    let due = schedule.first(scheduler.now())
    let timer: Subscription | undefined
    const wait = (): void => {
      if (subscriber.closed) return
      if (due === null) return subscriber.complete()
      timer = scheduler.schedule(wake, Math.min(MAX_DELAY_MS, Math.max(0, due - scheduler.now())))
    }
    const wake = (): void => {
      const startedAt = scheduler.now()
      if (due === null || startedAt < due) return wait()
      abort = new AbortController()
      perform(work, { scheduledAt: due, startedAt }, abort.signal, (report) => {
        subscriber.next(report)
        due = schedule.next(scheduler.now())
        wait()
      })
    }
    wait()
    return () => {
      timer?.unsubscribe()
      abort?.abort()
    }
  })
}

function perform(work: TickWork, tick: Tick, signal: AbortSignal, end: (report: RunReport) => void): void {
  const fail = (error: unknown): void => end({ tick, outcome: 'failed', error })
  let result: unknown
  try {
    result = work(tick, signal)
  } catch (error) {
    fail(error)
    return
  }
  if (isThenable(result)) result.then(() => end({ tick, outcome: 'done' }), fail)
  else end({ tick, outcome: 'done' })
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
