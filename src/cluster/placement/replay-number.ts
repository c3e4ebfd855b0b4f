/**
 * Hosts of a cluster go on with each other's tasks. Those with the same number here play the same log to the same states,
 * read what the other has stored, and understand each other; whichever versions they are of, they run beside each other,
 * so that a cluster is brought to another version one host after the other.
 *
 * Raise it whenever one of these changes: the states that a log is played to, the form in which inputs and states are
 * stored, the version of a collection, or what hosts tell each other. `test/cluster/placement/replay-number.test.ts` holds it against
 * what was recorded for it, and says how to record anew.
 */
export const REPLAY_NUMBER = 4

/** What a host runs. */
export interface Program {
  readonly version: string
  /** its `REPLAY_NUMBER` */
  readonly replay: number
}
