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
import type { Caller, Json } from '#kernel'

export const CHANNEL_TYPES = ['webscript', 'system'] as const
export type ChannelType = (typeof CHANNEL_TYPES)[number]
export const CHANNEL_METHODS = ['GET', 'PUT', 'POST'] as const
export type ChannelMethod = (typeof CHANNEL_METHODS)[number]
export const AUTHENTICATION_METHODS = ['NONE', 'API_KEY', 'TOKEN', 'SERVICE_TOKEN', 'WEBSCRIPT'] as const
export type AuthenticationMethod = (typeof AUTHENTICATION_METHODS)[number]
export const CHANGE_EVENTS = ['put', 'delete'] as const
export type ChangeEvent = (typeof CHANGE_EVENTS)[number]

/** As bodies and answers have it; `_links` are added by whoever shows it. */
export interface Subscription {
  readonly id: string
  readonly title?: string
  readonly description?: string
  readonly channel: Channel
  readonly filters: readonly Filter[]
}

export interface Channel {
  readonly type: ChannelType
  readonly name: string
  readonly version?: string
  readonly method: ChannelMethod
  readonly description?: string
  /** added together: how long links and tokens of a message are good */
  readonly expiry: { readonly seconds?: number; readonly hours?: number; readonly days?: number }
  readonly payload: { readonly signed_links: readonly ChannelMethod[]; readonly reference?: Json }
  readonly authentication: Authentication
}

export interface Authentication {
  readonly method: AuthenticationMethod
  readonly key?: string
  /** sealed: `enc:` and what only this host can open */
  readonly secret?: string
}

export interface Filter {
  readonly prefix?: string
  readonly suffix?: string
  readonly events: readonly ChangeEvent[]
  readonly description?: string
  /** where it is registered */
  readonly queue: string
}

/** Which subscriptions are meant: those that an object of that path would set off, of a type, by a part of the name. */
export interface SubscriptionQuery {
  readonly prefix?: string | undefined
  readonly suffix?: string | undefined
  readonly eventType?: ChangeEvent | undefined
  readonly channelType?: ChannelType | undefined
  readonly channelId?: string | undefined
  /** default 200; above 1,000 it is 1,000 */
  readonly maxKeys?: number | undefined
  /** those behind this id only */
  readonly startAfter?: string | undefined
}

export interface SubscriptionPage {
  readonly subscriptions: readonly Subscription[]
  /** as `startAfter` of the next page */
  readonly next?: string
}

export const DELIVERY_STATES = ['waiting', 'active', 'delivered', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** What became of one change for one subscription. Times are epoch ms. */
export interface Delivery {
  readonly id: string
  readonly state: DeliveryState
  readonly event: ChangeEvent
  /** path of the object */
  readonly object: string
  /** of the change in the tenant's log of changes */
  readonly position: number
  /** of the change */
  readonly time: number
  readonly attempts: number
  /** when it was delivered, or given up */
  readonly ended?: number
  readonly lastError?: { readonly time: number; readonly message: string; readonly status?: number }
}

export interface DeliveryQuery {
  readonly state?: DeliveryState | undefined
  readonly maxKeys?: number | undefined
  /** those of earlier changes than this position */
  readonly before?: number | undefined
}

export interface DeliveryPage {
  /** newest change first */
  readonly deliveries: readonly Delivery[]
  /** as `before` of the next page */
  readonly next?: number
}

/** `bucket` is an alias or a name of a bucket; one without subscriptions is `NOT_FOUND`. */
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

/** The service as callers reach it. */
export interface SubscriptionsService {
  as(caller: Caller): SubscriptionsApi
}

/** The service, as its neighbours and its host have it. */
export interface OperatedSubscriptions extends SubscriptionsService {
  /** Goes on with what was not handed on, and with what was not delivered. */
  start(): Promise<void>
  stop(): Promise<void>
  gauges(): { readonly openDeliveries: number; readonly delivered: number; readonly failed: number }
}
