/**
 * Holds readings so that they are processed in the order of their times.
 *
 * INORDER-1 readings that are released at one moment are in the order of their times, equal times in order of arrival.
 * INORDER-2 at most `MOST` wait; when one more arrives, the oldest is released at once.
 */
import type { WaitingInput } from '../input.ts'

export type DataInput = Extract<WaitingInput['input'], { kind: 'data' }>

export interface WaitingReading {
  /** epoch ms: the highest time of its messages */
  readonly time: number
  readonly arrived: number
  readonly input: DataInput
  readonly kept?: WaitingInput['kept']
}

/** A reading with the time, epoch ms, at which the clock released it. */
export interface Released {
  readonly clock: number
  readonly held: WaitingReading
}

const MOST = 1_000
const NONE: readonly WaitingReading[] = []

export class Reordering {
  readonly #wait: number
  readonly #lagOf: (resource: string) => number
  #list: readonly WaitingReading[] = []

  constructor(wait: number, lagOf: (resource: string) => number) {
    this.#wait = wait
    this.#lagOf = lagOf
  }

  get list(): readonly WaitingReading[] {
    return this.#list
  }

  clear(): void {
    this.#list = []
  }

  /** Adds a reading; returns the oldest one, to be processed at once, when too many wait. */
  hold(held: WaitingReading): WaitingReading | undefined {
    const index = this.#list.findLastIndex(({ time }) => time <= held.time) + 1
    this.#list = this.#list.toSpliced(index, 0, held)
    if (this.#list.length <= MOST) return undefined
    const [oldest, ...rest] = this.#list
    this.#list = rest
    return oldest
  }

  /** Returns when the clock releases the first reading, epoch ms; Infinity if none waits. */
  get earliest(): number {
    let at = Number.POSITIVE_INFINITY
    for (const held of this.#list) at = Math.min(at, this.#releaseOf(held))
    return at
  }

  /** Removes and returns readings that are due by the clock, each together with earlier measurements. */
  release(clock: number): readonly Released[] {
    const released: Released[] = []
    for (let at = this.earliest; at <= clock; at = this.earliest) {
      const first = this.#list.find((held) => this.#releaseOf(held) === at)
      if (first === undefined) break
      for (const held of this.upTo(first.time)) released.push({ clock: at, held })
    }
    return released
  }

  /** Removes and returns readings measured at or before a time. */
  upTo(time: number): readonly WaitingReading[] {
    return this.#take(this.#list.findLastIndex((held) => held.time <= time) + 1)
  }

  before(time: number): readonly WaitingReading[] {
    return this.#take(this.#list.findLastIndex((held) => held.time < time) + 1)
  }

  #take(count: number): readonly WaitingReading[] {
    if (count === 0) return NONE
    const taken = this.#list.slice(0, count)
    this.#list = this.#list.slice(count)
    return taken
  }

  #releaseOf({ time, arrived, input }: WaitingReading): number {
    const lag = Math.max(0, ...input.messages.map(({ resource }) => this.#lagOf(resource)))
    return Math.max(arrived, time + lag + this.#wait)
  }
}
