/**
 * Provides a batch's code for messages with the usual fields, and for each part of the sensors that other messages run.
 * The code is generated on first use, and again when the rows move.
 */
import type { Message } from '../task/origin.ts'
import { firstFieldSets, type FieldSetHistory } from './field-set-history.ts'
import type { Fields, FieldsTable } from './message-fields.ts'
import type { Part } from './message-parts.ts'
import type { RowCode, RowEvents, TakeAll, TakeOne, TakePart } from './row-code.ts'
import type { RowStore } from './row-store.ts'
import type { IndexedBatch } from './single-listener-index.ts'

const USUAL_SHARE = 1 / 8

export class RowTakers {
  readonly #rows: RowStore
  readonly #batch: RowEvents
  readonly #fields: FieldsTable
  readonly #fieldSetHistories = new Map<Fields, FieldSetHistory>()
  readonly #indexed = new Map<Fields, IndexedBatch>()
  #asked = 0
  readonly #askedWith = new Map<Fields, number>()
  #code: RowCode
  /** by index of the part */
  #ones: (TakePart | undefined)[] = []
  #lists: (TakeAll | undefined)[] = []

  constructor(rows: RowStore, batch: RowEvents, fields: FieldsTable, code: RowCode) {
    this.#rows = rows
    this.#batch = batch
    this.#fields = fields
    this.#code = code
  }

  get code(): RowCode {
    return this.#code
  }

  /** Replaces the code, because the rows have moved. */
  renew(code: RowCode): void {
    this.#code = code
    this.#ones = []
    this.#lists = []
    for (const [fields, indexed] of this.#indexed) indexed.takeOne = this.#usual(fields)
  }

  /** Returns the code for an indexed row whose last message has these fields. */
  indexed(fields: Fields): IndexedBatch {
    const asked = (this.#askedWith.get(fields) ?? 0) + 1
    this.#askedWith.set(fields, asked)
    this.#asked++
    const known = this.#indexed.get(fields)
    if (known !== undefined) return known
    // Any existing code works, even if it expects other fields than the row's messages usually have.
    const [another] = this.#indexed.values()
    if (another !== undefined && asked < this.#asked * USUAL_SHARE) return another
    const usualOf = (own: Fields): FieldSetHistory => this.#fieldSets(own)
    const made = { rows: this.#rows, batch: this.#batch, takeOne: this.#usual(fields), usualOf }
    this.#indexed.set(fields, made)
    return made
  }

  takeAll(part: Part): TakeAll {
    return (this.#lists[part.place] ??= this.#code.takeAll(part))
  }

  #fieldSets(fields: Fields): FieldSetHistory {
    let fieldSets = this.#fieldSetHistories.get(fields)
    if (fieldSets === undefined) this.#fieldSetHistories.set(fields, (fieldSets = firstFieldSets(fields)))
    return fieldSets
  }

  #usual(fields: Fields): TakeOne {
    const part = this.#rows.parts.of(fields)
    if (part === null || part.place !== 0 || part.lacks.length > 0) return this.#others
    return this.#code.takeOne(this.#fieldSets(fields), this.#others)
  }

  readonly #others: TakeOne = (row, message) => {
    const fields = this.#fields.of(message as Message)
    const part = fields === undefined ? null : this.#rows.parts.next(fields)
    if (fields === undefined || part === null) return false
    const take = (this.#ones[part.place] ??= this.#code.takePart(part))
    const taken = take(row, message, fields, part)
    if (taken || !this.#batch.takeAlone(row, message as Message, fields, part)) return taken
    this.#batch.taken++
    return true
  }
}
