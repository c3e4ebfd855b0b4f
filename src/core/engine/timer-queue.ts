/**
 * All timers of an engine in one table, with one wake-up on the injected scheduler. A timer that is put off stays where
 * it is: what is due is asked of the task when its time comes, so re-arming an eviction with every message costs one
 * comparison. Ties are broken by task, kind and node, so that a restored engine acts in the same order.
 */
import type { SchedulerLike, Subscription } from 'rxjs'
import type { TimerKind } from '../task/input.ts'
import { TimerTable, type Timer, type TimerOwner } from './timer-table.ts'

export interface WakePolicy {
  /** ms after which the clock is looked at again while something waits; default 24 days */
  readonly recheckMs?: number | undefined
  /** least ms between two wake-ups, so that a dense fleet acts in batches; default 0 */
  readonly restMs?: number | undefined
}

/** Timers further away than this are waited for in pieces: JavaScript's own timers hold 31 bits. */
const MAX_DELAY = 2 ** 31 - 1
const NEVER = Number.POSITIVE_INFINITY

export class TimerQueue {
  readonly #scheduler: SchedulerLike
  readonly #onWake: () => void
  readonly #recheckMs: number
  readonly #restMs: number
  readonly #table = new TimerTable()
  /** one number: when the next timer may be due; Infinity when there is none */
  readonly earliest = this.#table.earliest
  #wake: Subscription | undefined
  #wakeAt = NEVER
  #wokenAt = Number.NEGATIVE_INFINITY

  constructor(scheduler: SchedulerLike, onWake: () => void, { recheckMs, restMs }: WakePolicy = {}) {
    this.#scheduler = scheduler
    this.#onWake = onWake
    this.#recheckMs = Math.min(MAX_DELAY, Math.max(1, recheckMs ?? MAX_DELAY))
    this.#restMs = Math.max(0, restMs ?? 0)
  }

  /** Asks for `owner.fire` at `at` (epoch ms); asking for the same thing again matters only when it is earlier. */
  ask(owner: TimerOwner, kind: TimerKind, at: number, key: number, place = key): void {
    this.#table.set(owner, kind, key, at, place)
  }

  /** The owner wants nothing any more. */
  forget(owner: TimerOwner): void {
    this.#table.forget(owner)
    this.#dropUnwanted()
  }

  /** What nobody waits for may not be the next to wake for: it would keep a process alive for nothing. */
  #dropUnwanted(): void {
    for (let top = this.#table.peek(); top !== undefined; top = this.#table.peek()) {
      if (top.owner.dueAt(top.kind, top.key) !== NEVER) return
      this.#table.take()
      this.#table.release()
    }
  }

  /** Fires everything that is due, earliest first; `now` may not be behind an earlier call. */
  run(now: number): void {
    while ((this.earliest[0] as number) <= now) {
      const timer = this.#table.take()
      if (timer === undefined) break
      try {
        this.#act(timer, now)
      } finally {
        this.#table.release()
      }
    }
    this.#dropUnwanted()
  }

  #act({ owner, kind, key, at, place }: Timer, now: number): void {
    const due = owner.dueAt(kind, key)
    if (due <= now && due <= at) owner.fire(kind, key, now)
    else if (due !== NEVER) this.#table.set(owner, kind, key, due, place)
  }

  /** Sees to it that the scheduler wakes us for the earliest timer. */
  arm(): void {
    const next = this.earliest[0] as number
    if (next === this.#wakeAt) return
    this.#wake?.unsubscribe()
    this.#wake = undefined
    this.#wakeAt = next
    if (next === NEVER) return
    const now = this.#scheduler.now()
    // A clock that was put back makes no rest longer.
    const rest = Math.min(this.#restMs, this.#wokenAt + this.#restMs - now)
    const delay = Math.min(Math.max(0, next - now, rest), this.#recheckMs)
    this.#wake = this.#scheduler.schedule(() => {
      this.#wakeAt = NEVER
      if (this.#restMs > 0) this.#wokenAt = this.#scheduler.now()
      this.#onWake()
    }, delay)
  }

  close(): void {
    this.#wake?.unsubscribe()
    this.#table.clear()
  }
}
