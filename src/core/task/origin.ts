/** Messages, and what begins an invocation. */
import type { InputSummary } from '../engine/events.ts'

/** A broker message: values for one resource. */
export interface Message {
  readonly resource: string
  /** epoch ms or ISO 8601; when it was measured. Kept as a value, the engine's clock decides about time */
  readonly timestamp?: number | string
  readonly [key: string]: unknown
}

/** How messages came, beside what they say. */
export interface Sent {
  /** what they came on; absent: broker data */
  readonly channel?: string
  /** how many rules in a row led to them; absent: none */
  readonly hops?: number
  /** with hops: what the first of those rules was told of as the root, the same for all that came of one arrival */
  readonly root?: string
}

/** How messages came, and nothing else of what is given. */
export function sentOf({ channel, hops, root }: Sent): Sent {
  return {
    ...(channel !== undefined && { channel }),
    ...(hops !== undefined && { hops }),
    ...(root !== undefined && { root }),
  }
}

/** What began an invocation; shared by all that follows from it. */
export interface Origin {
  readonly kind: InputSummary['kind']
  readonly time: number
  readonly scheduledAt?: number
  readonly node?: string
  readonly resource?: string
  readonly values?: Readonly<Record<string, unknown>>
  /** of a message that came on one */
  readonly channel?: string
  /** for the sensor that it ran: the values that this reads by name and finds in earlier messages alone, and when they came */
  readonly carried?: Readonly<Record<string, number>>
  /** rules in a row that led to it; absent: none */
  readonly hops?: number
  /** of a message that came with one */
  readonly root?: string
}
