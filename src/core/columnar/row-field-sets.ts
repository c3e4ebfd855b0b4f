/** Stores the field-set histories of indexed rows, one each. */
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import type { TaskState } from '../task/task-state.ts'
import { carriedValue, isKept, nextFieldSets, type FieldSetHistory, type DetouredHistory } from './field-set-history.ts'
import type { Fields } from './message-fields.ts'
import type { Part } from './message-parts.ts'
import { FIELD_SETS, HANDLE, LAST, type Layout } from './row-layout.ts'

/** The members of the row store that this file uses. */
interface Rows {
  readonly layout: Layout
  readonly objects: (object | number | undefined)[]
  readonly offsets: Float64Array
  readonly clock: Float64Array
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

  constructor(rows: Rows) {
    this.#rows = rows
  }

  /** Returns the field-set history of a row's last message. */
  of(row: number): FieldSetHistory | DetouredHistory {
    const { objects, layout } = this.#rows
    return objects[row * layout.objects + FIELD_SETS] as FieldSetHistory
  }

  /** Switches a row to a message with other fields. Returns false when the row cannot take it. */
  turn(row: number, fields: Fields, part: Part): boolean {
    const rows = this.#rows
    const { objects } = rows
    const own = row * rows.layout.objects
    const last = objects[own + LAST] as Message
    const index = (rows.offsets[row] as number) + rows.count(row)
    const made = nextFieldSets(this.of(row), last, rows.time(row), index, fields)
    if (part.lacks.length > 0 && isKept(made, part.lacks)) return false
    objects[own + FIELD_SETS] = made
    return true
  }

  /** Returns a value that the row's message lacks and an earlier message had. */
  carried(row: number, name: string): unknown {
    const { objects, layout, clock } = this.#rows
    const { task, offset, materializedCount } = objects[row * layout.objects + HANDLE] as Attached
    const { streamValidity } = task.model
    const [stream] = task.state.streams
    return carriedValue(this.of(row), name, clock[0] ?? 0, streamValidity, offset + materializedCount, stream)
  }
}
