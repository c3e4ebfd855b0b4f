/**
 * A flag that work is pending at the end of the present input: events to flush, queued work, timers to arm. Read after
 * each message, and rarely set.
 */
export interface EndOfInput {
  hasWork: boolean
}
