/** Limits the readings that the tasks of an engine remember to recognize repetitions. */
import type { RecentReadings } from '../task/readings/recent.ts'
import type { Readings } from '../task/readings/readings.ts'
import type { Counting } from './counts.ts'

/** 64 MiB of readings */
export const MAX_REMEMBERED = 2 ** 22
/** Fraction that is kept when readings are forgotten, so that this happens rarely. */
const KEPT = 7 / 8

export interface RememberedOptions {
  readonly most: number
  /** ms for which repetitions of a reading are recognized */
  readonly window: number
  /** returns epoch ms; absent: the host decides when to forget */
  readonly now: (() => number) | undefined
}

interface RememberingTask {
  readonly readings: Readings | null
}

export class RememberedReadings {
  readonly #tasks: ReadonlyMap<string, RememberingTask>
  readonly #counts: Counting
  readonly #options: RememberedOptions
  #room = 0

  constructor(tasks: ReadonlyMap<string, RememberingTask>, counts: Counting, options: RememberedOptions) {
    this.#tasks = tasks
    this.#counts = counts
    this.#options = options
  }

  added(count: number): void {
    const { now } = this.#options
    const before = now && this.tooOld
    if (now !== undefined && before !== undefined) this.forget(before, now())
    this.#room += count
  }

  /** Returns the time, epoch ms, before which readings must be forgotten; undefined while the limit is not reached. */
  get tooOld(): number | undefined {
    const { most } = this.#options
    if (this.#room <= most) return undefined
    this.#recount()
    return this.#room <= KEPT * most ? undefined : oldestToKeep(this.#recent, KEPT * most)
  }

  /** Forgets readings before a time, epoch ms; counts those whose repetition would still be recognized at `now`. */
  forget(before: number, now: number): void {
    const since = now - this.#options.window
    let count = 0
    for (const { readings } of this.#tasks.values()) count += readings?.forgetRecent(before, since) ?? 0
    if (count > 0) this.#counts.forgotten = (this.#counts.forgotten ?? 0) + count
    this.#recount()
  }

  get #recent(): readonly RecentReadings[] {
    return [...this.#tasks.values()].flatMap(({ readings }) => [...(readings?.recent.values() ?? [])])
  }

  #recount(): void {
    this.#room = this.#recent.reduce((sum, { room }) => sum + room, 0)
  }
}

function oldestToKeep(all: readonly RecentReadings[], most: number): number {
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const one of all) {
    oldest = Math.min(oldest, one.oldest)
    newest = Math.max(newest, one.newest)
  }
  for (let span = newest - oldest; span >= 1; span /= 2) {
    const since = newest - span
    if (all.reduce((sum, one) => sum + one.roomSince(since), 0) <= most) return since
  }
  return newest + 1
}
