/** What is known of messages of a row that did not run all of its sensors. */
import type { FieldSetHistory, NotRunCounts } from './field-set-history.ts'

/** The same with state bits of each sensor before it ran last; they mean nothing while the last message ran all. */
export interface NotRun extends NotRunCounts {
  readonly prior: number
}

export const ALL_RAN: NotRun = { prior: 0, missed: 0, silent: 0 }

/** What came before a message at which an actuator fired, with the message itself. */
export interface FiredAfter extends NotRunCounts {
  readonly fieldSets: FieldSetHistory
  /** what gates were last before it, as bits, when that is not what state bits say */
  readonly gates?: number | undefined
}
