/** Defines messages, and the origins of invocations. */
import type { InputSummary } from '../engine/events.ts'

export interface Message {
  readonly resource: string
  /** when the message was measured, epoch ms or ISO 8601. Kept as a value: time follows the engine's clock */
  readonly timestamp?: number | string
  readonly [key: string]: unknown
}

export interface Sent {
  /** channel of the messages; absent: broker data */
  readonly channel?: string
  /** number of rules in a row that led to the messages; absent: none */
  readonly hops?: number
  /** with hops: id of what began the chain of rules, the same for everything that this message or event caused */
  readonly root?: string
}

export function sentOf({ channel, hops, root }: Sent): Sent {
  return {
    ...(channel !== undefined && { channel }),
    ...(hops !== undefined && { hops }),
    ...(root !== undefined && { root }),
  }
}

/** What began an invocation; shared by all its consequences. */
export interface Origin {
  readonly kind: InputSummary['kind']
  readonly time: number
  readonly scheduledAt?: number
  readonly node?: string
  readonly resource?: string
  readonly values?: Readonly<Record<string, unknown>>
  readonly channel?: string
  /** values that a sensor reads by name and finds only in earlier messages, with the arrival of each */
  readonly carried?: Readonly<Record<string, number>>
  readonly hops?: number
  readonly root?: string
}
