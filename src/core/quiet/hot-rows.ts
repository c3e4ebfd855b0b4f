/**
 * The shortest way of a message: resources to which one task listens that has a seat. Their rows stand side by side in
 * arrays, apart from everything else about the task, so that a message touches a handful of cache lines.
 */
import type { Message } from '../task/origin.ts'
import type { SeatLane } from './seat.ts'

export type SameFields = (message: Message) => boolean

/** For each source: its row (-1: none), lane and field check. */
const ROW = 0
const LANE = 1
const FIELDS = 2
const SIZE = 4
const FIRST_SOURCES = 64

export class HotRows {
  /** while a message is taken: the one before */
  before: Message | undefined
  readonly #clock: Float64Array
  #table = new Int32Array(0)
  readonly #last: (Message | undefined)[] = []
  readonly #lanes: SeatLane[] = []
  readonly #laneNumbers = new Map<SeatLane, number>()
  readonly #checks: SameFields[] = []
  readonly #checkNumbers = new Map<SameFields, number>()

  constructor(clock: Float64Array) {
    this.#clock = clock
  }

  /** Takes a message for a source. False, and nothing is done, when it has to go another way. */
  take(source: number, message: Message, now: number): boolean {
    const at = source * SIZE
    const row = this.#table[at + ROW] ?? -1
    if (row < 0) return false
    const sameFields = this.#checks[this.#table[at + FIELDS] ?? 0] as SameFields
    if (!sameFields(message)) return false
    const lane = this.#lanes[this.#table[at + LANE] ?? 0] as SeatLane
    this.#clock[0] = now
    const before = this.#last[source]
    this.before = before
    this.#last[source] = message
    if (lane.receiveOne(row, message)) {
      lane.taken++
      return true
    }
    this.#last[source] = before
    return false
  }

  /** From now on the row of a lane is the only one of a source. */
  set(source: number, lane: SeatLane, row: number, sameFields: SameFields, last: Message): void {
    this.#grow(source)
    const at = source * SIZE
    this.#table[at + ROW] = row
    this.#table[at + LANE] = numberOf(lane, this.#lanes, this.#laneNumbers)
    this.#table[at + FIELDS] = numberOf(sameFields, this.#checks, this.#checkNumbers)
    this.#last[source] = last
  }

  /** The source's messages go another way. Gives the last one. */
  clear(source: number): Message | undefined {
    const at = source * SIZE
    if ((this.#table[at + ROW] ?? -1) < 0) return undefined
    this.#table[at + ROW] = -1
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
}

function numberOf<T>(value: T, list: T[], numbers: Map<T, number>): number {
  const known = numbers.get(value)
  if (known !== undefined) return known
  const number = list.push(value) - 1
  numbers.set(value, number)
  return number
}
