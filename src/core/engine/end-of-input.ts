/**
 * One mark for all who may have something to do when the input at hand is done: who tells of events, whose work waits, who
 * asked for timers. It is set by them and looked at after each message, of which nearly all leave nothing.
 */
export interface EndOfInput {
  hasWork: boolean
}
