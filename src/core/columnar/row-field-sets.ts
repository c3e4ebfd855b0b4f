/** Stores the field-set histories of indexed rows: one each, or a shared one plus a kept message of the row's own. */
import { messageValue } from '../task/message-value.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import type { TaskState } from '../task/task-state.ts'
import {
  AlternatingHistories,
  carriedValue,
  isKept,
  nextFieldSets,
  streamValue,
  type AlternatingHistory,
  type FieldSetHistory,
  type DetouredHistory,
} from './field-set-history.ts'
import type { Fields } from './message-fields.ts'
import type { Part } from './message-parts.ts'
import { FIELD_SETS, HANDLE, KEPT, KEPT_INDEX, KEPT_TIME, keptAt, LAST, type Layout } from './row-layout.ts'

/** The members of the row store that this file uses. */
interface Rows {
  readonly layout: Layout
  readonly objects: (object | number | undefined)[]
  readonly past: Float64Array
  readonly offsets: Float64Array
  readonly clock: Float64Array
  pastAt(row: number): number
  time(row: number): number
  count(row: number): number
}

/** The members of a handle that this file uses. */
interface Attached {
  readonly task: { readonly model: TaskModel; readonly state: TaskState }
  readonly offset: number
  readonly materializedCount: number
}

export class RowFieldSets {
  readonly #rows: Rows
  readonly #alternating = new AlternatingHistories()

  constructor(rows: Rows) {
    this.#rows = rows
  }

  /** Returns the field-set history of a row's last message. */
  of(row: number): FieldSetHistory | DetouredHistory {
    const { objects, past, layout } = this.#rows
    const own = row * layout.objects
    const fieldSets = objects[own + FIELD_SETS] as FieldSetHistory | AlternatingHistory
    if (!('keptFields' in fieldSets)) return fieldSets
    const at = this.#keptAt(row)
    const index = past[at + KEPT_INDEX] as number
    const time = past[at + KEPT_TIME] as number
    const kept = {
      message: objects[own + KEPT] as Message,
      fields: fieldSets.keptFields,
      time,
      index,
      older: undefined,
    }
    return { fields: fieldSets.fields, from: index + 1, kept, previous: undefined }
  }

  /** Switches a row to a message with other fields. Returns false when the row cannot take it. */
  turn(row: number, fields: Fields, part: Part): boolean {
    const rows = this.#rows
    const { objects } = rows
    const own = row * rows.layout.objects
    const { next } = objects[own + FIELD_SETS] as Partial<AlternatingHistory>
    const last = objects[own + LAST] as Message
    const time = rows.time(row)
    const index = (rows.offsets[row] as number) + rows.count(row)
    if (next?.fields === fields && part.lacks.length === 0) {
      objects[own + FIELD_SETS] = next
      this.#keep(row, last, time, index)
      return true
    }
    const made = nextFieldSets(this.of(row), last, time, index, fields)
    if (part.lacks.length > 0 && isKept(made, part.lacks)) return false
    const { kept } = made
    // A sensor's call also reads the history of the message before.
    if (rows.layout.earlier === -1 && kept?.index === index && kept.older === undefined) {
      objects[own + FIELD_SETS] = this.#alternating.of(fields, kept.fields)
      this.#keep(row, last, time, index)
    } else objects[own + FIELD_SETS] = made
    return true
  }

  /** Returns a value that the row's message lacks and an earlier message had. */
  carried(row: number, name: string): unknown {
    const { objects, past, layout, clock } = this.#rows
    const own = row * layout.objects
    const { task, offset, materializedCount } = objects[own + HANDLE] as Attached
    const validity = task.model.streamValidity
    const [stream] = task.state.streams
    const seen = offset + materializedCount
    const now = clock[0] ?? 0
    const fieldSets = objects[own + FIELD_SETS] as FieldSetHistory | AlternatingHistory
    if (!('keptFields' in fieldSets)) return carriedValue(fieldSets, name, now, validity, seen, stream)
    const at = this.#keptAt(row)
    if ((past[at + KEPT_INDEX] as number) > seen) {
      const value = messageValue(objects[own + KEPT] as Message, name)
      if (value !== undefined) return (past[at + KEPT_TIME] as number) + validity > now ? value : undefined
    }
    return streamValue(name, now, validity, stream)
  }

  #keep(row: number, message: Message, time: number, index: number): void {
    const { objects, past, layout } = this.#rows
    const at = this.#keptAt(row)
    objects[row * layout.objects + KEPT] = message
    past[at + KEPT_TIME] = time
    past[at + KEPT_INDEX] = index
  }

  #keptAt(row: number): number {
    return this.#rows.pastAt(row) + keptAt(this.#rows.layout)
  }
}
