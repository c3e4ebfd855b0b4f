/** Computes the effect of a batch of units on the stored state; a failed unit leaves no trace. */
import type { AppError } from '#kernel'
import { conflictError, isExpected, type Conflict } from '../conflicts.ts'
import type { PreparedWrite } from '../prepare-writes.ts'
import type { FieldValue, KnownSpec } from '../spec.ts'

export interface PreparedUnit {
  readonly tenant: string
  readonly writes: readonly PreparedWrite[]
}

export interface Before {
  /** Undefined when it never existed. */
  document(collection: string, tenant: string, id: string): Kept | undefined
  last(tenant: string, log: string): number | undefined
}

export interface Kept {
  /** the current version, or the last version of a deleted document */
  readonly version: number
  readonly alive: boolean
}

export interface Plan {
  /** by index of the unit: its results or its error */
  readonly outcomes: readonly (readonly number[] | AppError)[]
  readonly documents: readonly PlannedDocument[]
  readonly logs: readonly PlannedLog[]
}

export interface PlannedDocument extends Kept {
  readonly spec: KnownSpec
  readonly tenant: string
  readonly id: string
  /** true when the table already has a row, live or deleted */
  readonly known: boolean
  readonly body: string | null
  readonly fields: readonly FieldValue[]
}

export interface PlannedLog {
  readonly tenant: string
  readonly log: string
  readonly known: boolean
  /** position of the first entry in `bodies` */
  readonly first: number
  readonly bodies: readonly string[]
}

interface DocumentSlot {
  readonly known: boolean
  kept: Kept
  planned: PlannedDocument | undefined
}
type LogSlot = PlannedLog & { readonly bodies: string[] }
type Append = Extract<PreparedWrite, { readonly kind: 'append' }>
type Change = Extract<PreparedWrite, { readonly kind: 'put' | 'delete' }>

const NEVER: Kept = { version: 0, alive: false }

export function planBatch(units: readonly PreparedUnit[], before: Before): Plan {
  const draft = new Draft(before)
  const outcomes = units.map((unit) => draft.weigh(unit))
  return { outcomes, ...draft.result() }
}

class Draft {
  readonly #before: Before
  readonly #documents = new Map<string, DocumentSlot>()
  readonly #logs = new Map<string, LogSlot>()
  /** steps that undo the current unit, in the order in which they were added */
  #undo: (() => void)[] = []

  constructor(before: Before) {
    this.#before = before
  }

  weigh({ tenant, writes }: PreparedUnit): readonly number[] | AppError {
    this.#undo = []
    const conflicts: Conflict[] = []
    const results = writes.map((write, index) => {
      if (write.kind === 'append') return this.#append(tenant, write)
      const slot = this.#document(write.known.name, tenant, write.id)
      const version = slot.kept.alive ? slot.kept.version : undefined
      if (isExpected(write.expect, version)) {
        return write.kind === 'expect' ? slot.kept.version : this.#change(slot, tenant, write)
      }
      const { known, id, expect } = write
      conflicts.push({ index, collection: known.name, id, expected: expect, actual: version ?? 'absent' })
      return 0
    })
    if (conflicts.length === 0) return results
    for (const step of this.#undo.reverse()) step()
    return conflictError(conflicts)
  }

  result(): Omit<Plan, 'outcomes'> {
    const documents = [...this.#documents.values()].flatMap(({ planned }) => planned ?? [])
    return { documents, logs: [...this.#logs.values()].filter(({ bodies }) => bodies.length > 0) }
  }

  /** Returns the new version after a put; for a delete, whether the document existed. */
  #change(slot: DocumentSlot, tenant: string, write: Change): number {
    const { kept, planned, known } = slot
    if (write.kind === 'delete' && !kept.alive) return 0
    this.#undo.push(() => {
      slot.kept = kept
      slot.planned = planned
    })
    const { known: spec, id } = write
    if (write.kind === 'delete') {
      slot.kept = { version: kept.version, alive: false }
      slot.planned = { spec, tenant, id, known, ...slot.kept, body: null, fields: [] }
      return 1
    }
    slot.kept = { version: kept.version + 1, alive: true }
    slot.planned = { spec, tenant, id, known, ...slot.kept, body: write.text, fields: write.fields }
    return slot.kept.version
  }

  #append(tenant: string, { log, texts }: Append): number {
    const slot = this.#log(tenant, log)
    const { length } = slot.bodies
    this.#undo.push(() => {
      slot.bodies.length = length
    })
    for (const text of texts) slot.bodies.push(text)
    return slot.first + slot.bodies.length - 1
  }

  #document(collection: string, tenant: string, id: string): DocumentSlot {
    const key = `${collection}/${tenant}/${id}`
    let slot = this.#documents.get(key)
    if (slot === undefined) {
      const kept = this.#before.document(collection, tenant, id)
      slot = { known: kept !== undefined, kept: kept ?? NEVER, planned: undefined }
      this.#documents.set(key, slot)
    }
    return slot
  }

  #log(tenant: string, log: string): LogSlot {
    const key = `${tenant}/${log}`
    let slot = this.#logs.get(key)
    if (slot === undefined) {
      const last = this.#before.last(tenant, log)
      slot = { tenant, log, known: last !== undefined, first: (last ?? 0) + 1, bodies: [] }
      this.#logs.set(key, slot)
    }
    return slot
  }
}
