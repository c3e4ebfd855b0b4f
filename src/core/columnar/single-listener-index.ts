/**
 * The shortest way of a message: a resource to which one task listens that has a handle. One lookup gives a number that
 * says which batch and which row: a fleet's objects are scattered over memory, its rows are not.
 */
import type { Message } from '../task/origin.ts'
import { NOT_ACCEPTED, type Accepted } from '../engine/executor.ts'
import { type RowEvents, type TakeOne } from './row-code.ts'
import { LAST } from './row-layout.ts'
import type { RowStore } from './row-store.ts'

/** What rows of one batch share whose messages have the same fields. */
export interface IndexedBatch {
  readonly rows: RowStore
  readonly batch: RowEvents
  /** another one when the batch has got room for more rows */
  takeOne: TakeOne
}

/** bits of the row in a number; the rest is the place of its batch */
const ROW_BITS = 20
const MAX_ROWS = 2 ** ROW_BITS
const MAX_BATCHES = 2 ** 10

export class SingleListenerIndex {
  /** batch and row by resource */
  readonly #numbers = new Map<string, number>()
  readonly #batches: IndexedBatch[] = []

  /** Into the one row that listens to its resource, if there is one. */
  take(message: Message): Accepted {
    const number = this.#numbers.get(message.resource)
    if (number === undefined) return NOT_ACCEPTED
    return (this.#batches[number >> ROW_BITS] as IndexedBatch).takeOne(number & (MAX_ROWS - 1), message)
  }

  /** Messages of the resource go to a row, whose last one is given. False when there is no room for it. */
  add(resource: string, batch: IndexedBatch, row: number, last: Message): boolean {
    let place = this.#batches.indexOf(batch)
    if (place === -1 && this.#batches.length < MAX_BATCHES) place = this.#batches.push(batch) - 1
    if (place === -1 || row >= MAX_ROWS) return false
    batch.rows.objects[row * batch.rows.layout.objects + LAST] = last
    this.#numbers.set(interned(resource), (place << ROW_BITS) | row)
    return true
  }

  /** Messages go another way. Gives the last one. */
  remove(resource: string, { rows }: IndexedBatch, row: number): Message | undefined {
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
