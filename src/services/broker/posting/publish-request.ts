/** A post after its body and options were read: its messages, and what is done with them. */
import type { BrokerMessage, Channel } from '../contract.ts'
import { withoutWritten } from '#kernel'
import type { Bulk } from './bulk.ts'

/** A message of a post. */
export interface IncomingMessage {
  readonly resource: string
  /** metrics and `timestamp`, without `resource` */
  readonly message: BrokerMessage
  /** its timestamp is that of its arrival */
  readonly isUnstamped?: true
  /** the message as JSON, serialized once */
  readonly text: string
  /** with `resource`, as tasks and subscribers receive it; created on first use */
  routed?: RoutedMessage
}

export type RoutedMessage = BrokerMessage & { readonly resource: string }

export function routedMessageOf(incoming: IncomingMessage): RoutedMessage {
  incoming.routed ??= { resource: incoming.resource, ...incoming.message }
  return incoming.routed
}

/** The routed message as JSON, derived from its text. */
export function routedText({ resource, text }: IncomingMessage): string {
  // a message has at least its timestamp
  return `{"resource":${JSON.stringify(resource)},${text.slice(1)}`
}

export interface PublishRequest {
  readonly channel: Channel
  /** empty for a bulk */
  readonly arrivals: readonly IncomingMessage[]
  /** several messages of one resource: they go into series only */
  readonly bulk?: Bulk
  /** epoch ms */
  readonly arrived: number
  /** stored in series, and in messages unless it is a bulk */
  readonly store: boolean
  /** handed to tasks */
  readonly forward: boolean
  /** epoch ms at which what is stored expires */
  readonly expires?: number
  /** rules in a row that led to it */
  readonly hops: number
  /** with hops: id of the first input that led to it */
  readonly root?: string
  readonly oddities?: Oddities
  /** as in `ForwardedPost` */
  readonly identityIgnores?: readonly string[] | 'all'
}

/** Parts of a post that were changed or dropped: they are counted, and logged at a limited rate. */
export interface Oddities {
  /** integers beyond the precision of a number; the first of each metric of a resource are named */
  readonly unreadable: number
  readonly unread: readonly { readonly resource: string; readonly metric: string; readonly digits: string }[]
  /** by another partition */
  readonly isCounted?: true
  /** timestamps that are too far from the clock of the host; the first of each resource are named */
  readonly badTime: number
  readonly badTimes: readonly { readonly resource: string; readonly claim: string }[]
}

/** The message as rules read it: without integers beyond the precision of a number. */
export function readableMessageOf(incoming: IncomingMessage, { oddities }: PublishRequest): RoutedMessage {
  const routed = routedMessageOf(incoming)
  return oddities === undefined || oddities.unreadable === 0 ? routed : withoutWritten(routed)
}

/** epoch ms by which it is newer than another: a clock that is ahead does not make a message newer */
export function timeOf({ message }: IncomingMessage, { arrived }: PublishRequest): number {
  return Math.min(message.timestamp, arrived)
}

export function hasEffect({ store, forward }: PublishRequest): boolean {
  return store || forward
}

/** messages of a post */
export function countOf({ arrivals, bulk }: PublishRequest): number {
  return bulk?.count ?? arrivals.length
}
