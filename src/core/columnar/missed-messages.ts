/** What is known of messages of a row that did not run all of its sensors. */
import type { Era } from './message-eras.ts'

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

/** What messages did not run: sensors, and those that ran none. */
export interface NotRun {
  readonly prior: number
  readonly missed: number
  readonly silent: number
}

/** What came before a message at which an actuator fired, with the message itself. */
export interface FiredAfter extends Omit<NotRun, 'prior'> {
  readonly era: Era
  /** what gates were last before it, as bits, when that is not what state bits say */
  readonly gates?: number | undefined
}
