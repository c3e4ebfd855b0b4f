/**
 * Subscriptions as others see them: who is told of changes of objects, how, and what became of it.
 *
 * SUBSCRIBE-1 each change that fits a filter of a subscription that was there before it is delivered at least once, or
 *   ends as a delivery that says why not; also when the host is killed in the middle
 * SUBSCRIBE-2 deliveries of one subscription about one object begin when those of its earlier changes have ended
 * SUBSCRIBE-3 what waits, what is tried and what is kept is bounded
 * SUBSCRIBE-4 the secret of a channel is stored and shown sealed, and opened for a call alone
 * SUBSCRIBE-5 each change reaches the rules once, in the order of the log
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `FORBIDDEN`, `CONFLICT`, `CLOSED`.
 */
import type { Caller } from '#kernel'
import type { Delivery, DeliveryQuery, Subscription, SubscriptionQuery } from './subscription-schema.ts'

export interface SubscriptionPage {
  readonly subscriptions: readonly Subscription[]
  /** as `startAfter` of the next page */
  readonly next?: string
}

export interface DeliveryPage {
  /** newest change first */
  readonly deliveries: readonly Delivery[]
  /** as `before` of the next page */
  readonly next?: number
}

/** `bucket` is an alias or a name of a bucket; one without subscriptions is `NOT_FOUND`. Bodies may be any JSON. */
export interface SubscriptionsApi {
  list(bucket: string, query?: SubscriptionQuery): Promise<SubscriptionPage>
  get(bucket: string, id: string): Promise<Subscription>
  /** `CONFLICT` for an id that is taken. */
  create(bucket: string, body: unknown): Promise<Subscription>
  /** Makes or replaces it. A secret that is the sealed one that was shown stays what it is. */
  put(bucket: string, id: string, body: unknown): Promise<Subscription>
  /** What waited for it is given up. */
  remove(bucket: string, id: string): Promise<void>
  /** Those of users that fit; gives their ids. */
  removeAll(
    bucket: string,
    query?: SubscriptionQuery,
  ): Promise<{ readonly ids: readonly string[]; readonly next?: string }>
  deliveries(bucket: string, id: string, query?: DeliveryQuery): Promise<DeliveryPage>
}

/** The subscriptions of one tenant. */
export interface InternalSubscriptions {
  as(caller: Caller): SubscriptionsApi
  /** Goes on with what was not handed on, and with what was not delivered. */
  start(): Promise<void>
  stop(): Promise<void>
  gauges(): { readonly openDeliveries: number; readonly delivered: number; readonly failed: number }
}
