/**
 * The shortest way of a message: a resource to which one task listens that has a seat. One lookup gives a number that
 * says which lane and which row: a fleet's objects are scattered over memory, its rows are not.
 */
import type { Message } from '../task/origin.ts'
import { NOT_ACCEPTED, type Accepted } from '../engine/executor.ts'
import { type RowEvents, type TakeOne } from './row-code.ts'
import { LAST } from './layout.ts'
import type { RowStore } from './row-store.ts'

/** What rows of one lane share whose messages have the same fields. */
export interface HotLane {
  readonly rows: RowStore
  readonly lane: RowEvents
  /** another one when the lane has got room for more rows */
  takeOne: TakeOne
}

/** bits of the row in a number; the rest is the place of its lane */
const ROW_BITS = 20
const MAX_ROWS = 2 ** ROW_BITS
const MAX_LANES = 2 ** 10

export class HotRows {
  /** lane and row by resource */
  readonly #numbers = new Map<string, number>()
  readonly #lanes: HotLane[] = []

  /** Into the one row that listens to its resource, if there is one. */
  take(message: Message): Accepted {
    const number = this.#numbers.get(message.resource)
    if (number === undefined) return NOT_ACCEPTED
    return (this.#lanes[number >> ROW_BITS] as HotLane).takeOne(number & (MAX_ROWS - 1), message)
  }

  /** Messages of the resource go to a row, whose last one is given. False when there is no room for it. */
  warm(resource: string, lane: HotLane, row: number, last: Message): boolean {
    let place = this.#lanes.indexOf(lane)
    if (place === -1 && this.#lanes.length < MAX_LANES) place = this.#lanes.push(lane) - 1
    if (place === -1 || row >= MAX_ROWS) return false
    lane.rows.objects[row * lane.rows.layout.objects + LAST] = last
    this.#numbers.set(interned(resource), (place << ROW_BITS) | row)
    return true
  }

  /** Messages go another way. Gives the last one. */
  cool(resource: string, { rows }: HotLane, row: number): Message | undefined {
    this.#numbers.delete(resource)
    const place = row * rows.layout.objects + LAST
    const last = rows.objects[place] as Message | undefined
    rows.objects[place] = undefined
    return last
  }
}

/** The same text as engines keep names of fields, and parsers short values: found without comparing letter by letter. */
function interned(text: string): string {
  return Object.keys({ [text]: true })[0] ?? text
}
