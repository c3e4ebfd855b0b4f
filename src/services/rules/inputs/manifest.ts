/** What of kept inputs is there: written as one document, together with the position that they have of the log. */
import type { CollectionSpec } from '#storage'
import type { NewSegment } from './segment-writer.ts'

/** `id`: path of its content */
export interface SegmentRow extends Omit<NewSegment, 'content'> {
  readonly id: string
  readonly bytes: number
}

/** `isFull`: every task that ran then is in it; otherwise tasks that changed since the one before */
export interface CheckpointRow extends SegmentRow {
  readonly isFull: boolean
}

export interface Manifest {
  /** the first position that is complete from there on, and epoch ms of its arrival */
  readonly since: { readonly position: number; readonly at: number }
  /** the last position that segments have */
  readonly position: number
  /** of consecutive positions, oldest first */
  readonly inputs: readonly SegmentRow[]
  /** oldest first */
  readonly checkpoints: readonly CheckpointRow[]
  /** epoch ms of the last round of checkpoints */
  readonly checkpointedAt: number
  /** resources that were deleted, and the last position of the log then */
  readonly deleted: readonly (readonly [resource: string, position: number])[]
}

export const KEPT_INPUTS: CollectionSpec<Manifest> = { name: 'rule_inputs', version: 1, fields: {} }
export const MANIFEST_ID = 'manifest'
