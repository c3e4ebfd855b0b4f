/**
 * Subscriptions to changes of objects, and their deliveries.
 *
 * SUBSCRIBE-1 each change that matches a filter of an earlier subscription is delivered at least once, or fails with its
 *   reason, also across crashes
 * SUBSCRIBE-2 deliveries of a subscription about an object begin after those of its earlier changes have ended
 * SUBSCRIBE-3 waiting, attempted and kept deliveries are bounded
 * SUBSCRIBE-4 the secret of a channel is stored and shown sealed, and opened for calls alone
 * SUBSCRIBE-5 each change reaches the rules once, in log order
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `FORBIDDEN`, `CONFLICT`, `CLOSED`.
 */
import type { Caller } from '#kernel'
import type { Delivery, DeliveryQuery, Subscription, SubscriptionQuery } from './subscription-schema.ts'

export interface SubscriptionPage {
  readonly subscriptions: readonly Subscription[]
  /** `startAfter` of the next page */
  readonly next?: string
}

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[]
  /** `before` of the next page */
  readonly next?: number
}

/** `bucket`: alias or name; `NOT_FOUND` for one without subscriptions. Bodies are checked. */
export interface SubscriptionsApi {
  list(bucket: string, query?: SubscriptionQuery): Promise<SubscriptionPage>
  get(bucket: string, id: string): Promise<Subscription>
  /** `CONFLICT` for an existing id. */
  create(bucket: string, body: unknown): Promise<Subscription>
  /** Creates or replaces it; the sealed secret of an answer keeps the current one. */
  put(bucket: string, id: string, body: unknown): Promise<Subscription>
  /** Fails waiting deliveries. */
  remove(bucket: string, id: string): Promise<void>
  /** Removes matching ones but built-in; returns their ids. */
  removeAll(
    bucket: string,
    query?: SubscriptionQuery,
  ): Promise<{ readonly ids: readonly string[]; readonly next?: string }>
  deliveries(bucket: string, id: string, query?: DeliveryQuery): Promise<DeliveryPage>
}

export interface InternalSubscriptions {
  as(caller: Caller): SubscriptionsApi
  /** Resumes forwarding and deliveries. */
  start(): Promise<void>
  stop(): Promise<void>
  gauges(): { readonly openDeliveries: number; readonly delivered: number; readonly failed: number }
}
