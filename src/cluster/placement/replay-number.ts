/**
 * Compatibility number of hosts. Hosts with the same number replay a log to the same states, read each other's stored
 * data, and understand each other; they may run side by side whatever their version, so that a cluster is upgraded host
 * by host.
 *
 * Raise it whenever one of these changes: the states that a log is replayed to, the form of stored inputs and states,
 * the version of a collection, or the messages between hosts. `test/cluster/placement/replay-number.test.ts` compares
 * it with its record, and describes how to record again.
 */
export const REPLAY_NUMBER = 4

export interface Program {
  readonly version: string
  readonly replay: number
}
