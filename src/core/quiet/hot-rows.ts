/**
 * The shortest way of a message: resources to which one task listens that has a seat. Their rows stand side by side in
 * arrays, apart from everything else about the task, so that a message touches a handful of cache lines.
 */
import type { Message } from '../task/origin.ts'
import type { RowEvents, TakeOne } from './evaluate.ts'
import type { RowStore } from './row-store.ts'

/** What rows of one lane share whose messages have the same fields. */
export interface HotLane {
  readonly rows: RowStore
  readonly lane: RowEvents & { taken: number }
  readonly takeOne: TakeOne
}

/** For each source: its row (-1: none) and the number of its hot lane. */
const ROW = 0
const LANE = 1
const SIZE = 2
const FIRST_SOURCES = 64

export class HotRows {
  /** while a message is taken: the one before */
  before: Message | undefined
  #table = new Int32Array(0)
  readonly #last: (Message | undefined)[] = []
  readonly #lanes: HotLane[] = []
  readonly #numbers = new Map<HotLane, number>()

  /** Takes a message for a source. False, and nothing is done, when it has to go another way. */
  take(source: number, message: Message): boolean {
    const row = this.#table[source * SIZE + ROW] ?? -1
    if (row < 0) return false
    const { rows, lane, takeOne } = this.#lanes[this.#table[source * SIZE + LANE] as number] as HotLane
    const before = this.#last[source]
    this.before = before
    this.#last[source] = message
    if (takeOne(rows, lane, row, message)) {
      lane.taken++
      return true
    }
    this.#last[source] = before
    return false
  }

  /** From now on a row is the only one of a source. */
  set(source: number, lane: HotLane, row: number, last: Message): void {
    this.#grow(source)
    this.#table[source * SIZE + ROW] = row
    this.#table[source * SIZE + LANE] = this.#numberOf(lane)
    this.#last[source] = last
  }

  /** The source's messages go another way. Gives the last one. */
  clear(source: number): Message | undefined {
    const at = source * SIZE + ROW
    if ((this.#table[at] ?? -1) < 0) return undefined
    this.#table[at] = -1
    const last = this.#last[source]
    this.#last[source] = undefined
    return last
  }

  last(source: number): Message | undefined {
    return this.#last[source]
  }

  #grow(source: number): void {
    const room = this.#table.length / SIZE
    if (source < room) return
    const more = new Int32Array(Math.max(FIRST_SOURCES, 2 * room, source + 1) * SIZE).fill(-1)
    more.set(this.#table)
    this.#table = more
  }

  #numberOf(lane: HotLane): number {
    const known = this.#numbers.get(lane)
    if (known !== undefined) return known
    const number = this.#lanes.push(lane) - 1
    this.#numbers.set(lane, number)
    return number
  }
}
