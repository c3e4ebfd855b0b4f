/**
 * All timers of an engine in one heap, with one wake-up on the injected scheduler. Timers are never taken out: what
 * is due is asked of the task when its time comes, so re-arming an eviction with every message costs one comparison.
 * Ties are broken by task, kind and node, so that a restored engine acts in the same order.
 */
import type { SchedulerLike, Subscription } from 'rxjs'
import { Heap } from '../../kernel/heap.ts'
import type { TimerKind } from '../task/input.ts'

/** Whoever asked for the timer. */
export interface TimerOwner {
  /** order among tasks */
  readonly order: number
  /** when the thing is really due: now or earlier, later (asked again), or Infinity (forgotten) */
  dueAt(kind: TimerKind, key: number): number
  fire(kind: TimerKind, key: number, now: number): void
}

interface Entry {
  readonly at: number
  readonly owner: TimerOwner
  readonly kind: TimerKind
  readonly key: number
  /** order among timers of one kind that are due together */
  readonly place: number
}

const RANK: Readonly<Record<TimerKind, number>> = { evict: 0, follow: 1, wake: 2, ownTick: 3, tick: 4 }
const KINDS = 5
/** Timers further away than this are waited for in pieces: JavaScript's own timers hold 31 bits. */
const MAX_DELAY = 2 ** 31 - 1

export class TimerQueue {
  readonly #scheduler: SchedulerLike
  readonly #onWake: () => void
  readonly #heap = new Heap<Entry>(isBefore)
  /** per owner, the earliest entry for each thing */
  readonly #armed = new Map<TimerOwner, Map<number, number>>()
  #wake: Subscription | undefined
  #wakeAt = Number.POSITIVE_INFINITY
  #dead = 0

  constructor(scheduler: SchedulerLike, onWake: () => void) {
    this.#scheduler = scheduler
    this.#onWake = onWake
  }

  /** When the next timer may be due; Infinity when there is none. */
  get nextAt(): number {
    return this.#heap.peek()?.at ?? Number.POSITIVE_INFINITY
  }

  ask(owner: TimerOwner, kind: TimerKind, at: number, key: number, place = key): void {
    let armed = this.#armed.get(owner)
    if (armed === undefined) this.#armed.set(owner, (armed = new Map<number, number>()))
    const thing = key * KINDS + RANK[kind]
    const known = armed.get(thing)
    if (known !== undefined && known <= at) return
    armed.set(thing, at)
    this.#heap.push({ at, owner, kind, key, place })
  }

  /** The owner wants nothing any more. */
  forget(owner: TimerOwner): void {
    const armed = this.#armed.get(owner)
    if (armed === undefined) return
    this.#armed.delete(owner)
    this.#dead += armed.size
    if (this.#dead * 2 >= this.#heap.size && this.#heap.size >= 64) {
      this.#heap.retain((entry) => this.#isLive(entry))
      this.#dead = 0
    }
    this.#dropDead()
  }

  /** A dead timer may not be the one that is waited for: it would keep a process alive for nothing. */
  #dropDead(): void {
    for (let top = this.#heap.peek(); top !== undefined && !this.#isLive(top); top = this.#heap.peek()) this.#heap.pop()
  }

  /** Fires everything that is due, earliest first; `now` may not be behind an earlier call. */
  run(now: number): void {
    for (let entry = this.#heap.peek(); entry !== undefined && entry.at <= now; entry = this.#heap.peek()) {
      this.#heap.pop()
      if (!this.#isLive(entry)) continue
      this.#armed.get(entry.owner)?.delete(entry.key * KINDS + RANK[entry.kind])
      const due = entry.owner.dueAt(entry.kind, entry.key)
      if (due <= now && due <= entry.at) entry.owner.fire(entry.kind, entry.key, now)
      else if (due !== Number.POSITIVE_INFINITY) this.ask(entry.owner, entry.kind, due, entry.key, entry.place)
    }
    this.#dropDead()
  }

  /** Sees to it that the scheduler wakes us for the earliest timer. */
  arm(): void {
    const next = this.nextAt
    if (next === this.#wakeAt) return
    this.#wake?.unsubscribe()
    this.#wake = undefined
    this.#wakeAt = next
    if (next === Number.POSITIVE_INFINITY) return
    const delay = Math.min(Math.max(0, next - this.#scheduler.now()), MAX_DELAY)
    this.#wake = this.#scheduler.schedule(() => {
      this.#wakeAt = Number.POSITIVE_INFINITY
      this.#onWake()
    }, delay)
  }

  close(): void {
    this.#wake?.unsubscribe()
    this.#armed.clear()
    this.#heap.retain(() => false)
  }

  #isLive(entry: Entry): boolean {
    return this.#armed.get(entry.owner)?.get(entry.key * KINDS + RANK[entry.kind]) === entry.at
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  if (a.at !== b.at) return a.at < b.at
  if (a.owner !== b.owner) return a.owner.order < b.owner.order
  if (a.kind !== b.kind) return RANK[a.kind] < RANK[b.kind]
  return a.place < b.place || (a.place === b.place && a.key < b.key)
}
