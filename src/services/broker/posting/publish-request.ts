/** A post after its body and options have been read: its messages and what to do with them. */
import type { BrokerMessage, Channel } from '../contract.ts'
import { withoutWritten } from '#kernel'
import type { Bulk } from './bulk.ts'

export interface IncomingMessage {
  readonly resource: string
  readonly message: BrokerMessage
  /** the message has no timestamp of its own, so it takes the time of its arrival */
  readonly isUnstamped?: true
  /** the message as JSON, serialized once */
  readonly text: string
  /** the message including `resource`, as tasks and subscribers receive it; created on first use */
  routed?: RoutedMessage
}

export type RoutedMessage = BrokerMessage & { readonly resource: string }

export function routedMessageOf(incoming: IncomingMessage): RoutedMessage {
  incoming.routed ??= { resource: incoming.resource, ...incoming.message }
  return incoming.routed
}

export function routedText({ resource, text }: IncomingMessage): string {
  // the text is never `{}`, because every message has a timestamp
  return `{"resource":${JSON.stringify(resource)},${text.slice(1)}`
}

export interface PublishRequest {
  readonly channel: Channel
  /** empty for a bulk */
  readonly arrivals: readonly IncomingMessage[]
  /** many messages of few resources, which go into series only */
  readonly bulk?: Bulk
  /** epoch ms */
  readonly arrived: number
  readonly store: boolean
  readonly forward: boolean
  /** epoch ms at which the stored data expires */
  readonly expires?: number
  /** number of consecutive rules that led to the post */
  readonly hops: number
  /** if there are hops: id of the first input that led to the post */
  readonly root?: string
  readonly oddities?: Oddities
  /** keep the last message as the retained one of its topic */
  readonly retain?: true
  /** the resource whose retained message is deleted */
  readonly clears?: string
  /** see `ForwardedPost` */
  readonly identityIgnores?: readonly string[] | 'all'
}

/** Parts of a post that were changed or dropped. They are counted, and logged at a limited rate. */
export interface Oddities {
  /** number of integers beyond the precision of a number; `unread` names the first for each metric of a resource */
  readonly unreadable: number
  readonly unread: readonly { readonly resource: string; readonly metric: string; readonly digits: string }[]
  /** number of timestamps too far from the host's clock; `badTimes` names the first for each resource */
  readonly badTime: number
  readonly badTimes: readonly { readonly resource: string; readonly claim: string }[]
}

/** Returns the message as rules read it, without integers beyond the precision of a number. */
export function readableMessageOf(incoming: IncomingMessage, { oddities }: PublishRequest): RoutedMessage {
  const routed = routedMessageOf(incoming)
  return oddities === undefined || oddities.unreadable === 0 ? routed : withoutWritten(routed)
}

/** The epoch ms for newness: a timestamp ahead of the arrival counts as the arrival. */
export function timeOf({ message }: IncomingMessage, { arrived }: PublishRequest): number {
  return Math.min(message.timestamp, arrived)
}

export function hasEffect({ store, forward }: PublishRequest): boolean {
  return store || forward
}

export function countOf({ arrivals, bulk }: PublishRequest): number {
  return bulk?.count ?? arrivals.length
}
