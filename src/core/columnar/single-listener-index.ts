/**
 * Provides the fastest way to deliver a message, for resources with one listener that has a handle. One lookup returns
 * a number that encodes batch and row, because objects of a fleet are scattered in memory and rows are not.
 */
import type { Message } from '../task/origin.ts'
import { type RowEvents, type TakeOne } from './row-code.ts'
import type { FieldSetHistory } from './field-set-history.ts'
import type { Fields } from './message-fields.ts'
import { integersInPlace } from './fixed-memory.ts'
import { AFTER, FIELD_SETS, LAST } from './row-layout.ts'
import { NO_NUMBER, ResourceTable } from './resource-table.ts'
import type { RowStore } from './row-store.ts'

/** Data shared by rows of one batch whose messages usually have the same fields. */
export interface IndexedBatch {
  readonly rows: RowStore
  readonly batch: RowEvents
  /** replaced when the batch grows */
  takeOne: TakeOne
  /** Returns the field-set history without a past for messages with these fields. */
  usualOf(fields: Fields): FieldSetHistory
}

const ROW_BITS = 20
const MAX_ROWS = 2 ** ROW_BITS
const MAX_BATCHES = 2 ** 10

export class SingleListenerIndex {
  readonly #numbers = new ResourceTable()
  readonly #batches: IndexedBatch[] = []
  /** stores what was read ahead, so that the optimizer keeps the read */
  readonly #ahead = integersInPlace(1)

  /** Delivers a message if its resource has exactly one listener and that listener is a row. */
  take(message: Message): boolean {
    const { resource } = message
    const place = this.#numbers.placeOf(resource)
    if (this.#numbers.isFar) this.#readAhead(this.#numbers.numberAt(place))
    const number = this.#numbers.get(resource, place)
    if (number === NO_NUMBER) return false
    return (this.#batches[number >> ROW_BITS] as IndexedBatch).takeOne(number & (MAX_ROWS - 1), message)
  }

  /** Same for a message whose timestamp was set by the host. */
  takeHostStamped(message: Message): boolean {
    const number = this.#numberOf(message.resource)
    if (number === NO_NUMBER) return false
    const { rows, takeOne } = this.#batches[number >> ROW_BITS] as IndexedBatch
    return !rows.parts.isStamped && takeOne(number & (MAX_ROWS - 1), message)
  }

  /** Same for a message that was measured at `time` and arrived at `arrived`, epoch ms. */
  takeStamped(message: Message, time: number, arrived: number): boolean {
    const number = this.#numberOf(message.resource)
    if (number === NO_NUMBER) return false
    const { rows, takeOne } = this.#batches[number >> ROW_BITS] as IndexedBatch
    const row = number & (MAX_ROWS - 1)
    // A message with an equal time may be a duplicate.
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

  /** Reads the likely row before comparing texts, so that the processor fetches both from distant memory at once. */
  #readAhead(number: number): void {
    if (number === NO_NUMBER) return
    const { rows } = this.#batches[number >> ROW_BITS] as IndexedBatch
    const row = number & (MAX_ROWS - 1)
    const fieldSets = rows.objects[row * rows.layout.objects + FIELD_SETS]
    this.#ahead[0] = (rows.ints[2 * rows.at(row) + AFTER] as number) ^ (fieldSets === undefined ? 1 : 0)
  }

  /** Sends further messages of the resource directly to a row. Returns false when the index is full. */
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

  /** Removes a row from the index. Returns its last message and that message's field-set history. */
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
    // A row that is still processing its message may yet fire.
    if (batch.currentRow === row) rows.fieldSets = fieldSets
    objects[own + LAST] = undefined
    objects[own + FIELD_SETS] = undefined
    return { last, fieldSets }
  }
}
