/** Types that describe messages that did not run all sensors of a row. */
import type { FieldSetHistory, NotRunCounts } from './field-set-history.ts'

/** Adds the state bits that each sensor had before its last run; meaningless while the last message ran all sensors. */
export interface NotRun extends NotRunCounts {
  readonly prior: number
}

export const ALL_RAN: NotRun = { prior: 0, missed: 0, silent: 0 }

/** What preceded a message that fired an actuator, and the message's own fields. */
export interface FiredAfter extends NotRunCounts {
  readonly fieldSets: FieldSetHistory
  /** gate states before the message, as bits, if state bits do not determine them */
  readonly gates?: number | undefined
}
