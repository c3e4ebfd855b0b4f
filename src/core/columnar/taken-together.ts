/** Describes the messages that the rows of a vectorized batch took together. */
import type { Message } from '../task/origin.ts'
import type { FiringHistory } from './firing-history.ts'
import type { FieldSetHistory } from './field-set-history.ts'
import type { Limits } from './row-code.ts'

/** Lists are indexed by the place of the message. */
export interface TakenTogether {
  readonly rows: readonly number[]
  readonly limits: Limits
  readonly values: Float64Array
  readonly times: Float64Array
  /** the minimum values by parameter, then the maximum values */
  readonly bounds: Float64Array
  readonly messages: readonly (Message | undefined)[]
  readonly fieldSetHistories: readonly (FieldSetHistory | undefined)[]
  readonly history: FiringHistory
  /** Returns the state bits of the row at place `i` after a message. */
  statesAt(i: number, place: number): number
  /** Counts the messages up to a place that ran no sensor of a row, since its last synchronization. */
  silentUpTo(row: number, place: number): number
  /** Sets when each node that has changed entered its state, up to a message. */
  setSince(i: number, place: number, target: number[]): void
}
