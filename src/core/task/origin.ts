/** Messages, and the origins of invocations. */
import type { InputSummary } from '../engine/events.ts'

export interface Message {
  readonly resource: string
  /** epoch ms or ISO 8601; when it was measured. Kept as a value: time follows the engine's clock */
  readonly timestamp?: number | string
  readonly [key: string]: unknown
}

export interface Sent {
  /** absent: broker data */
  readonly channel?: string
  /** number of rules in a row that led to them; absent: none */
  readonly hops?: number
  /** with hops: the root that the first of those rules had, the same for everything that one arrival caused */
  readonly root?: string
}

export function sentOf({ channel, hops, root }: Sent): Sent {
  return {
    ...(channel !== undefined && { channel }),
    ...(hops !== undefined && { hops }),
    ...(root !== undefined && { root }),
  }
}

/** What began an invocation; shared by everything that follows from it. */
export interface Origin {
  readonly kind: InputSummary['kind']
  readonly time: number
  readonly scheduledAt?: number
  readonly node?: string
  readonly resource?: string
  readonly values?: Readonly<Record<string, unknown>>
  readonly channel?: string
  /**
   * for the sensor that it ran: values that the sensor reads by name and finds only in earlier messages, and their
   * arrival
   */
  readonly carried?: Readonly<Record<string, number>>
  readonly hops?: number
  readonly root?: string
}
