/** What is known of messages of a row that did not run all of its sensors. */
import type { Era, NotRunCounts } from './message-eras.ts'

/** Of a row whose messages do not all run all of its sensors. */
export interface MissedMessages {
  /** state bits of each sensor before it ran last; means nothing while the last message ran all */
  prior: number
  /** sensors that messages did not run, since the last synchronization */
  missed: number
  /** messages that ran none */
  silent: number
  /** the same before the last message that did not run all */
  earlier: NotRun
}

/** The same with state bits of each sensor before it ran last. */
export interface NotRun extends NotRunCounts {
  readonly prior: number
}

export const NOTHING_MISSED: NotRun = { prior: 0, missed: 0, silent: 0 }

/** What came before a message at which an actuator fired, with the message itself. */
export interface FiredAfter extends NotRunCounts {
  readonly era: Era
  /** what gates were last before it, as bits, when that is not what state bits say */
  readonly gates?: number | undefined
}
