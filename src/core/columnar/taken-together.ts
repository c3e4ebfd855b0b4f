/** What a vectorized batch knows of the messages that its rows took together. */
import type { Message } from '../task/origin.ts'
import type { FiringHistory } from './firing-history.ts'
import type { FieldSetHistory } from './field-set-history.ts'
import type { Limits } from './row-code.ts'

/** By place of the message. */
export interface TakenTogether {
  readonly rows: readonly number[]
  readonly limits: Limits
  readonly values: Float64Array
  readonly times: Float64Array
  /** the least of the values by parameter, then the greatest */
  readonly bounds: Float64Array
  readonly messages: readonly (Message | undefined)[]
  readonly fieldSetHistories: readonly (FieldSetHistory | undefined)[]
  readonly history: FiringHistory
  /** State bits of the row at place `i` after a message. */
  statesAt(i: number, place: number): number
  /** Messages up to a place that ran no sensor of a row, since its last synchronization. */
  silentUpTo(row: number, place: number): number
  /** Sets since when each node had its state, up to a message, for nodes that have changed. */
  setSince(i: number, place: number, target: number[]): void
}
