/**
 * Defines the number that decides which hosts are compatible. Hosts with the same number replay a log to the same
 * states, read each other's stored data, and understand each other's messages. They may run side by side whatever their
 * version, so that a cluster can be upgraded host by host.
 *
 * Raise it whenever one of these changes: the states that a log is replayed to, the form of stored inputs and states,
 * the version of a collection, or the messages between hosts. `test/cluster/placement/replay-number.test.ts` compares
 * the number with its record, and describes how to update that record.
 */
export const REPLAY_NUMBER = 7

export interface Program {
  readonly version: string
  readonly replay: number
}
