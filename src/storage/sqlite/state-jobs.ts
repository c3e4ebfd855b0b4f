/** What the main thread hands to the writer of state.db, and what it answers. */
import type { Conflict } from '../conflicts.ts'
import type { Expectation } from '../contract.ts'
import type { CollectionForm, ColumnValues } from './collection-form.ts'
import type { NotWritten } from './failure.ts'

export type StateJob =
  | { readonly kind: 'commit'; readonly tenant: string; readonly writes: readonly StateWrite[] }
  /** makes the tables of a collection where they are not there or have another form */
  | { readonly kind: 'declare'; readonly form: CollectionForm }
  /** fields that were read again after a change of form */
  | { readonly kind: 'fill'; readonly collection: string; readonly rows: readonly FilledRow[]; readonly last: boolean }
  /** answered with the rows that are gone: fewer than `TRIM_ROWS` when none is left */
  | {
      readonly kind: 'trim'
      readonly tenant: string
      readonly log: string
      readonly partition: number
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
      /** what was searched before is wanted, when it is not the same any more */
      readonly tells: boolean
    }
  | {
      readonly kind: 'delete'
      readonly collection: string
      readonly id: string
      readonly expect: Expectation
      readonly tells: boolean
    }
  | { readonly kind: 'expect'; readonly collection: string; readonly id: string; readonly expect: number }
  | { readonly kind: 'append'; readonly log: string; readonly partition: number; readonly chunks: readonly LogChunk[] }

/** Entries of one row of a log, at most: reading one of them reads them all. */
export const MAX_ENTRIES = 256
export const MAX_CHARACTERS = 64 * 1024

/** Rows of entries that a trim forgets in one transaction: commits of others come in between. */
export const TRIM_ROWS = 200

/** Entries that stand in one row: their number, and their JSON with commas between. */
export interface LogChunk {
  readonly count: number
  readonly bodies: string
}

export interface FilledRow {
  readonly tenant: string
  readonly id: string
  readonly fields: ColumnValues
}

/** `before`: null when there was no such document. */
export interface PreviousColumns {
  readonly place: number
  readonly before: ColumnValues | null
}

/** A write whose expectation did not hold, by its place in the unit. */
export type WriteConflict = Pick<Conflict, 'place' | 'actual'>

/** The answer to a job: what came of it, the misfits that undid it, or why it failed. */
export type StateAnswer =
  | {
      /** by place of the write */
      readonly results: readonly number[]
      /** collections in which something that can be searched is not as it was */
      readonly changed: readonly string[]
      /** of writes that tell, what was there to be searched: those that changed it, in their order */
      readonly told: readonly PreviousColumns[]
    }
  | { readonly misfits: readonly WriteConflict[] }
  | NotWritten

/** The one result of `declare`. */
export const READY = 0
export const MUST_FILL = 1
