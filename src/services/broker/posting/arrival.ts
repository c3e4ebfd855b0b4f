/** What a post says, read: who it is for, and what becomes of it (array posting, `store`, `forward`). */
import type { BrokerMessage, Channel } from '../contract.ts'
import { withoutWritten } from '#kernel'
import type { Bulk } from './bulk.ts'

/** A message on its way. */
export interface Arrival {
  readonly resource: string
  /** metrics and `timestamp`, without `resource` */
  readonly message: BrokerMessage
  /** it came without a timestamp, and has that of its arrival */
  readonly isUnstamped?: true
  /** the message as JSON, made once */
  readonly text: string
  /** as tasks and subscribers see it, once somebody asked */
  told?: RoutedMessage
}

/** The message as tasks and subscribers see it: with `resource`. */
export type RoutedMessage = BrokerMessage & { readonly resource: string }

export function routedMessageOf(arrival: Arrival): RoutedMessage {
  arrival.told ??= { resource: arrival.resource, ...arrival.message }
  return arrival.told
}

/** The same as JSON, made of the text that there is. */
export function routedText({ resource, text }: Arrival): string {
  // a message has its timestamp at least
  return `{"resource":${JSON.stringify(resource)},${text.slice(1)}`
}

/** A whole post, read. */
export interface Post {
  readonly channel: Channel
  /** empty for a bulk */
  readonly arrivals: readonly Arrival[]
  /** several messages of one resource: they go into series alone */
  readonly bulk?: Bulk
  /** epoch ms */
  readonly arrived: number
  /** kept in series, and in messages unless it is a bulk */
  readonly store: boolean
  /** handed to tasks */
  readonly forward: boolean
  /** epoch ms from which what is stored is gone */
  readonly expires?: number
  /** rules in a row that led to it */
  readonly hops: number
  /** with hops: what everything that came of one arrival is known by */
  readonly root?: string
  readonly oddities?: Oddities
  /** as in `ForwardedPost` */
  readonly identityIgnores?: readonly string[] | 'all'
}

/** What of a post was not taken as it came: it is counted, and told now and then. */
export interface Oddities {
  /** whole numbers that no number keeps; the first of each metric of a resource are named */
  readonly unreadable: number
  readonly unread: readonly { readonly resource: string; readonly metric: string; readonly digits: string }[]
  /** by another partition */
  readonly isCounted?: true
  /** timestamps that are too far from the clock of the host; the first of each resource are named */
  readonly badTime: number
  readonly badTimes: readonly { readonly resource: string; readonly claim: string }[]
}

/** The message as rules read it: without whole numbers that no number keeps. */
export function readableMessageOf(arrival: Arrival, { oddities }: Post): RoutedMessage {
  const routed = routedMessageOf(arrival)
  return oddities === undefined || oddities.unreadable === 0 ? routed : withoutWritten(routed)
}

/** epoch ms by which it is newer than another: a clock that is ahead makes nothing new */
export function timeOf({ message }: Arrival, { arrived }: Post): number {
  return Math.min(message.timestamp, arrived)
}

/** Whether a post changes or wakes anything at all. */
export function hasEffect({ store, forward }: Post): boolean {
  return store || forward
}

/** messages of a post */
export function countOf({ arrivals, bulk }: Post): number {
  return bulk?.count ?? arrivals.length
}

/** Whether subscribers hear of it: whoever stores or forwards single messages tells them too. */
export function isTold(post: Post): boolean {
  return hasEffect(post) && post.bulk === undefined
}
