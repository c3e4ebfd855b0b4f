/** Defines the jobs for the writer of state.db, and their results. */
import type { Conflict } from '../conflicts.ts'
import type { Expectation } from '../contract.ts'
import type { CollectionForm, ColumnValues } from './collection-form.ts'
import type { NotWritten } from './failure.ts'

export type StateJob =
  | { readonly kind: 'commit'; readonly tenant: string; readonly writes: readonly StateWrite[] }
  /** creates the tables of a collection if they are missing or have another form */
  | { readonly kind: 'declare'; readonly form: CollectionForm }
  /** stores fields that were computed again after a change of form */
  | { readonly kind: 'fill'; readonly collection: string; readonly rows: readonly FilledRow[]; readonly last: boolean }
  /** deletes log rows; the result is the number deleted, and fewer than `TRIM_ROWS` means complete */
  | {
      readonly kind: 'trim'
      readonly tenant: string
      readonly log: string
      readonly upTo: number
    }

export type StateWrite =
  | {
      readonly kind: 'put'
      readonly collection: string
      readonly id: string
      readonly body: string
      readonly fields: ColumnValues
      readonly expect: Expectation
      /** the result must include the previous searchable values if they changed */
      readonly needsPrevious: boolean
    }
  | {
      readonly kind: 'delete'
      readonly collection: string
      readonly id: string
      readonly expect: Expectation
      readonly needsPrevious: boolean
    }
  | { readonly kind: 'expect'; readonly collection: string; readonly id: string; readonly expect: number }
  | { readonly kind: 'append'; readonly log: string; readonly chunks: readonly LogChunk[] }

/** Most entries in a row, since reading one entry reads the whole row. */
export const MAX_ENTRIES = 256
export const MAX_CHARACTERS = 64 * 1024

/** Most rows that a trim deletes in one transaction, so that commits get their turn. */
export const TRIM_ROWS = 200

/** Entries of one row: their number, and their JSON separated by commas. */
export interface LogChunk {
  readonly count: number
  readonly bodies: string
}

export interface FilledRow {
  readonly tenant: string
  readonly id: string
  readonly fields: ColumnValues
}

/** `before` is null when the document did not exist. */
export interface PreviousColumns {
  readonly index: number
  readonly before: ColumnValues | null
}

/** A write whose expectation failed, by its index in the unit. */
export type WriteConflict = Pick<Conflict, 'index' | 'actual'>

export type StateAnswer =
  | {
      readonly results: readonly number[]
      readonly changed: readonly string[]
      /** previous searchable values of changed documents, for writes that ask for them, in order */
      readonly previous: readonly PreviousColumns[]
    }
  | { readonly conflicts: readonly WriteConflict[] }
  | NotWritten

export const READY = 0
export const MUST_FILL = 1
