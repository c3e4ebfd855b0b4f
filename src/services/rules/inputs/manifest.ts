/** The manifest of kept inputs: lists the current segments, with the log position that they reach. */
import type { CollectionSpec } from '#storage'

export interface SegmentFigures {
  readonly footerBytes: number
  readonly first: number
  readonly last: number
  /** epoch ms of arrivals */
  readonly firstAt: number
  readonly lastAt: number
  /** epoch ms of readings */
  readonly from: number
  readonly until: number
  readonly messages: number
}

/** `id`: path of the segment's content. */
export interface SegmentRow extends SegmentFigures {
  readonly id: string
  readonly bytes: number
}

/** `isFull`: contains every task that was running; otherwise only tasks that changed since the previous round. */
export interface CheckpointRow extends SegmentRow {
  readonly isFull: boolean
}

export interface Manifest {
  /** the first position after which inputs are complete, and its arrival in epoch ms */
  readonly since: { readonly position: number; readonly at: number }
  /** the last log position that is in segments */
  readonly position: number
  /** segments of consecutive positions, oldest first */
  readonly inputs: readonly SegmentRow[]
  /** oldest first */
  readonly checkpoints: readonly CheckpointRow[]
  /** epoch ms of the last round of checkpoints */
  readonly checkpointedAt: number
  /** deleted resources, each with the last log position at its deletion */
  readonly deleted: readonly (readonly [resource: string, position: number])[]
}

export const KEPT_INPUTS: CollectionSpec<Manifest> = { name: 'rule_inputs', version: 1, fields: {} }
export const MANIFEST_ID = 'manifest'
