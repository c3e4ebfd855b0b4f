/** Keeps all timers of an engine in one table; a postponed timer stays until it fires, so re-arming is cheap. */
import type { SchedulerLike, Subscription } from 'rxjs'
import type { TimerKind } from '../task/input.ts'
import { TimerTable, type Timer, type TimerOwner } from './timer-table.ts'

export interface WakePolicy {
  readonly recheckMs?: number | undefined
  readonly restMs?: number | undefined
}

/** Longest delay of one wait, since JavaScript's timers hold 31 bits; longer delays are split. */
const MAX_DELAY = 2 ** 31 - 1
const NEVER = Number.POSITIVE_INFINITY

export class TimerQueue {
  readonly #scheduler: SchedulerLike
  readonly #onWake: () => void
  readonly #recheckMs: number
  readonly #restMs: number
  readonly #table = new TimerTable()
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

  /** Requests `owner.fire` at `at` (epoch ms). A repeated request has an effect only when it is earlier. */
  set(owner: TimerOwner, kind: TimerKind, at: number, key: number, order = key): void {
    this.#table.set(owner, kind, key, at, order)
  }

  forget(owner: TimerOwner): void {
    this.#table.forget(owner)
    this.#dropUnwanted()
  }

  /** Drops timers that their owners no longer need, since waiting for them would keep the process alive. */
  #dropUnwanted(): void {
    for (let top = this.#table.peek(); top !== undefined; top = this.#table.peek()) {
      if (top.owner.dueAt(top.kind, top.key) !== NEVER) return
      this.#table.take()
      this.#table.release()
    }
  }

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

  #act({ owner, kind, key, at, order }: Timer, now: number): void {
    const due = owner.dueAt(kind, key)
    if (due <= now && due <= at) owner.fire(kind, key, now)
    else if (due !== NEVER) this.#table.set(owner, kind, key, due, order)
  }

  arm(): void {
    const next = this.earliest[0] as number
    if (next === this.#wakeAt) return
    this.#wake?.unsubscribe()
    this.#wake = undefined
    this.#wakeAt = next
    if (next === NEVER) return
    const now = this.#scheduler.now()
    // A clock that was set back must not prolong the pause.
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
