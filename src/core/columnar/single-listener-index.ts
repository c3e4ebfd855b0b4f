/**
 * The shortest way of a message: a resource with one listener that has a handle. One look-up returns a number that consists
 * of batch and row: a fleet's objects are scattered over memory, its rows are not.
 */
import type { Message } from '../task/origin.ts'
import { type RowEvents, type TakeOne } from './row-code.ts'
import type { FieldSetHistory } from './field-set-history.ts'
import type { Fields } from './message-fields.ts'
import { integersInPlace } from './fixed-memory.ts'
import { AFTER, FIELD_SETS, KEPT, LAST } from './row-layout.ts'
import { NO_NUMBER, ResourceTable } from './resource-table.ts'
import type { RowStore } from './row-store.ts'

/** What rows of one batch share whose messages mostly have the same fields. */
export interface IndexedBatch {
  readonly rows: RowStore
  readonly batch: RowEvents
  /** another one when the batch has got room for more rows */
  takeOne: TakeOne
  /** The field-set history without a past of messages with these fields. */
  usualOf(fields: Fields): FieldSetHistory
}

const ROW_BITS = 20
const MAX_ROWS = 2 ** ROW_BITS
const MAX_BATCHES = 2 ** 10

export class SingleListenerIndex {
  readonly #numbers = new ResourceTable()
  readonly #batches: IndexedBatch[] = []
  /** what was read ahead: without a use it would not be read */
  readonly #ahead = integersInPlace(1)

  /** Into the one row that listens to its resource, if there is one. */
  take(message: Message): boolean {
    const { resource } = message
    const place = this.#numbers.placeOf(resource)
    if (this.#numbers.isFar) this.#readAhead(this.#numbers.numberAt(place))
    const number = this.#numbers.get(resource, place)
    if (number === NO_NUMBER) return false
    return (this.#batches[number >> ROW_BITS] as IndexedBatch).takeOne(number & (MAX_ROWS - 1), message)
  }

  /** The same of a message whose timestamp is of its host. */
  takeHostStamped(message: Message): boolean {
    const number = this.#numberOf(message.resource)
    if (number === NO_NUMBER) return false
    const { rows, takeOne } = this.#batches[number >> ROW_BITS] as IndexedBatch
    return !rows.parts.isStamped && takeOne(number & (MAX_ROWS - 1), message)
  }

  /** The same of a message that was measured at `time` and came at `arrived`, epoch ms. */
  takeStamped(message: Message, time: number, arrived: number): boolean {
    const number = this.#numberOf(message.resource)
    if (number === NO_NUMBER) return false
    const { rows, takeOne } = this.#batches[number >> ROW_BITS] as IndexedBatch
    const row = number & (MAX_ROWS - 1)
    // One of equal time may be the same again.
    if (!rows.parts.isStamped || time <= rows.time(row)) return false
    const before = rows.arrivals[row] as number
    rows.arrivals[row] = arrived
    if (takeOne(row, message)) return true
    rows.arrivals[row] = before
    return false
  }

  #numberOf(resource: string): number {
    const place = this.#numbers.placeOf(resource)
    if (this.#numbers.isFar) this.#readAhead(this.#numbers.numberAt(place))
    return this.#numbers.get(resource, place)
  }

  /**
   * Reads the row that is most likely meant before texts are compared: a fleet's rows are far away, and so are the texts. The
   * processor fetches both at once.
   */
  #readAhead(number: number): void {
    if (number === NO_NUMBER) return
    const { rows } = this.#batches[number >> ROW_BITS] as IndexedBatch
    const row = number & (MAX_ROWS - 1)
    const fieldSets = rows.objects[row * rows.layout.objects + FIELD_SETS]
    this.#ahead[0] = (rows.ints[2 * rows.at(row) + AFTER] as number) ^ (fieldSets === undefined ? 1 : 0)
  }

  /** Messages of the resource go to a row from here on. False when the index is full. */
  add(resource: string, batch: IndexedBatch, row: number, last: Message, fieldSets: FieldSetHistory): boolean {
    let place = this.#batches.indexOf(batch)
    if (place === -1 && this.#batches.length < MAX_BATCHES) place = this.#batches.push(batch) - 1
    if (place === -1 || row >= MAX_ROWS) return false
    const own = row * batch.rows.layout.objects
    batch.rows.objects[own + LAST] = last
    batch.rows.objects[own + FIELD_SETS] = fieldSets
    this.#numbers.set(resource, (place << ROW_BITS) | row)
    return true
  }

  /** Messages take another way from here on. Returns the last one and its field-set history. */
  remove(
    resource: string,
    { rows, batch }: IndexedBatch,
    row: number,
  ): { last: Message | undefined; fieldSets: FieldSetHistory | undefined } {
    this.#numbers.delete(resource)
    const { objects, layout } = rows
    const own = row * layout.objects
    const last = objects[own + LAST] as Message | undefined
    const fieldSets = objects[own + FIELD_SETS] === undefined ? undefined : rows.fieldSetHistories.of(row)
    // In the midst of its message it may still fire.
    if (batch.currentRow === row) rows.fieldSets = fieldSets
    objects[own + LAST] = undefined
    objects[own + KEPT] = undefined
    objects[own + FIELD_SETS] = undefined
    return { last, fieldSets }
  }
}
