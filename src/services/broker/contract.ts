/**
 * The data broker as others see it: messages in, streams out, time series.
 * The same over HTTP, WebSockets and MQTT, and over fetch (`client.ts`). Whatever comes from outside is read by the
 * service itself: a body may be any JSON.
 *
 * BROKER-1 nothing is acknowledged before it is in the durable log, together with what the engine was given of it; what
 *   is imported, of which the engine is given nothing, before it is in the series
 * BROKER-2 what is acknowledged is seen by every read that comes after: series, messages and current wait until series
 *   have it. A post is answered as soon as it is durable; how far series may be behind is bounded, and beyond it
 *   answers wait. After a crash the log has what series had not
 * BROKER-3 messages of one resource reach tasks and subscribers in the order in which they were acknowledged
 * BROKER-4 a slow reader or a slow rule never slows ingestion: what waits is bounded, and what is lost is counted
 * BROKER-5 no method reaches data of another tenant
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `TOO_LARGE`, `CONFLICT` (an idempotency key
 * used for another body), `SUPERSEDED` (of rules alone: the task did something later to the resource), `RATE_LIMITED`
 * (too much waits to be durable), `STORE` (of a read: what was posted is kept, but cannot be read yet; of a post: nothing
 * more is taken until it can), `CLOSED`.
 */
import type { EffectOfTask } from '#services/shared/contract'
import type { Caller, Feed, Issue, Json, LogPlace, Published } from '#kernel'
import type { Followed, KeptMessage } from '#log'
import type { Sample, Write } from '#storage'
import type { SeriesAnswer, SeriesPage, SeriesQuery, SeriesRemoval } from './series/series-schema.ts'

export type { SeriesAnswer, SeriesPage, SeriesQuery } from './series/series-schema.ts'

/** The service as callers reach it. */
export interface BrokerService {
  /** Everything as that caller may see it. Cheap: ask for each request. */
  as(caller: Caller): BrokerApi
}

/** The service inside the host: what its neighbours and the host call. */
export interface InternalBroker extends BrokerService {
  /**
   * Resolves when all that was posted before can be read. Rules wait for it before they read, because they hear of a
   * message before its poster is answered (BROKER-2). Rejects with `STORE` as reads do.
   */
  readable(tenant: string): Promise<void>
  /** For files of the past; see there. */
  importing(tenant: string): SeriesImport
  /** What a post of this body, or of this command, would refuse whatever the resource is. At once, from the body alone. */
  check(channel: Channel, body: unknown): readonly Issue[]
  /** Brings series up to the log, and goes on with what was under way. The signal aborts when streams must end. */
  start(closing?: AbortSignal): Promise<void>
  /** Of a broker that has one of several partitions of the tenant: what another of them asks. */
  answer(tenant: string, question: BrokerQuestion): Promise<void>
  /** Likewise: what is told in it from now on; first that it is there. Ends with the signal, or when the partition moves. */
  follow(tenant: string, asked: FollowedStream, signal: AbortSignal): AsyncIterable<FollowedPart>
  stop(): Promise<void>
  gauges(): BrokerGauges
}

/** Samples of the past on their way into series alone: rules and subscribers do not hear of them. */
export interface SeriesImport {
  /** Resolves when all that was posted before is in series: where both have a time, what is imported then counts. */
  begin(): Promise<void>
  /** Durable and readable when it resolves. Resources that do not exist are made. At most 100,000. */
  append(samples: readonly Sample[]): Promise<void>
}

/** What the broker of one partition of a tenant asks that of another: plain JSON. */
export type BrokerQuestion =
  /** messages of its resources, as the other one has read them; `key`: the same again does nothing */
  | { readonly ask: 'take'; readonly post: object; readonly key?: string }
  /** resolves when all that was posted there before can be read */
  | { readonly ask: 'readable' }

/** What one partition of a tenant hears of another: plain JSON. */
export interface FollowedStream {
  readonly channel: Channel
  /** of one resource; absent: of all */
  readonly resource?: string
  /** where the partition has what was seen last; what it has since then comes first */
  readonly since?: LogPlace
}

/** What it is told: plain JSON. */
export type FollowedPart =
  /** `place`: right before what comes; `missed`: not all since the one that was asked for is there any more */
  | { readonly here: true; readonly place?: LogPlace; readonly missed?: true }
  | { readonly resource: string; readonly message: BrokerMessage; readonly place?: LogPlace }
  /** so many were lost, because they were not taken */
  | { readonly dropped: number }

/** Figures for /metrics; totals count since the start. */
export interface BrokerGauges {
  /** messages and commands that were accepted */
  readonly accepted: number
  /** what waits to be durable */
  readonly queued: number
  /** open streams of any kind */
  readonly subscribers: number
  /** values lost to slow readers */
  readonly dropped: number
  /** whole numbers that no number keeps: they are in their messages, and in no series */
  readonly unreadable: number
  /** messages whose timestamp was too far from the clock of the host: they were taken at receipt */
  readonly badTime: number
}

/** Which timestamps of live messages are taken, by the clock of the host. */
export interface TimeBounds {
  /** ms beyond the clock and before it; `Infinity`: no bound */
  readonly ahead: number
  readonly behind: number
  /** any other is refused; else its message is taken as if it had none */
  readonly refuses: boolean
}

export interface BrokerApi {
  readonly posting: PostingApi
  readonly messages: MessageApi
  readonly streams: StreamApi
  readonly series: SeriesApi
}

/** The two channels of a resource. */
export type Channel = 'events' | 'commands'

export interface PostOptions {
  /** default true: kept in series and messages */
  readonly store?: boolean
  /** default true: handed to tasks */
  readonly forward?: boolean
  /** seconds, `42m`, or ISO 8601 */
  readonly ttl?: string | number
  /** the same key within a day, with the same body: the first answer again, nothing done twice */
  readonly idempotencyKey?: string
  /** rules in a row that led to this; above 16 it is refused */
  readonly hops?: number
  /** with hops: what everything that came of one arrival is known by */
  readonly root?: string
  /** keys that do not count when rules compare a message with one that they have taken, besides those of the host */
  readonly identityIgnores?: readonly string[]
  /** a timestamp that the clock of the host cannot explain is taken at receipt, whatever the host does else */
  readonly badTime?: 'receipt'
  /** of a rule, with a key and a resource of the path: `SUPERSEDED` when its task did something to the resource later */
  readonly cause?: EffectOfTask
}

/** The body of an answer to a post. */
export interface Posted {
  readonly message: string
  readonly content: unknown
}

export interface PostingApi {
  /** A message or an array of them. Without a resource each must name its own. */
  events(resource: string | undefined, body: unknown, options?: PostOptions): Promise<Posted>
  command(
    resource: string,
    body: unknown,
    options?: Pick<PostOptions, 'idempotencyKey' | 'hops' | 'root' | 'cause'>,
  ): Promise<Posted>
}

/** A message as it is given back: its metrics, `timestamp` in epoch ms; `resource` where several may come. */
export type BrokerMessage = Readonly<Record<string, Json>> & { readonly timestamp: number }

export interface MessageApi {
  /** Newest first; at most 100 are kept. */
  last(resource: string, channel?: Channel, limit?: number): Promise<readonly BrokerMessage[]>
  /** `NOT_FOUND` when nothing was stored. */
  current(resource: string): Promise<BrokerMessage>
  /** the body of `POST /messages/query`, and its answer */
  query(body: unknown): Promise<{
    readonly query: unknown
    readonly results: readonly { readonly resource: string; readonly messages: readonly BrokerMessage[] }[]
  }>
}

export interface Subscription {
  readonly signal: AbortSignal
  /** the number that was seen last; what is kept since then comes first */
  readonly after?: number
  /** where the log has the message that was seen last; what it has since then comes first */
  readonly since?: LogPlace
  /** messages that may wait; default 1,000 */
  readonly most?: number
  /** default `dropOldest` */
  readonly overflow?: 'dropOldest' | 'end'
}

export interface StreamApi {
  /** Messages of one resource as they are accepted. */
  subscribe(resource: string, channel: Channel, options: Subscription): ReturnType<Feed<BrokerMessage>['read']>
  /** All events of the tenant, with `resource` in each. */
  firehose(options: Subscription): ReturnType<Feed<BrokerMessage>['read']>
}

export type StreamedMessage = Published<BrokerMessage>

export interface SeriesApi {
  /** At most 2,000 points. */
  get(resource: string, metric: string, query?: SeriesQuery): Promise<SeriesPage>
  /** At most `limit` samples, 2,000 unless asked otherwise, never more than 10,000. */
  raw(resource: string, metric: string, query?: SeriesQuery): Promise<SeriesPage>
  /** The newest `limit` samples (default 1) up to `until`, also those that are ahead of the clock when there is none; newest first. */
  latest(resource: string, metric: string, query?: Pick<SeriesQuery, 'until' | 'limit'>): Promise<SeriesAnswer>
  /** The metrics of a resource with their newest sample, by name. */
  list(
    resource: string,
  ): Promise<readonly { readonly metric: string; readonly time: number; readonly value: unknown }[]>
  /** One query or an array of them; the answer has the same form, and `next` is the body of what remains. */
  query(body: unknown): Promise<SeriesAnswer | readonly SeriesAnswer[]>
  /** Times are epoch ms, ISO 8601, or an age such as `2d`. */
  remove(what: SeriesRemoval): Promise<void>
}

/** What the broker asks of the engine. */
export interface Forwarding {
  /**
   * Appends the posts to the log as one unit with the broker's writes, in the order of the calls: those that tasks listen
   * to as their inputs, others as far as they are kept. When it rejects before `followed` was called, none of it is done.
   */
  receive(
    tenant: string,
    posts: readonly ForwardedPost[],
    writes: readonly Write[],
    followed: Followed,
  ): Promise<unknown>
}

/** What one poster sent: one invocation of each task that takes it. */
export interface ForwardedPost {
  readonly messages: readonly (BrokerMessage & { readonly resource: string })[]
  /** of one message, or of the list, the same as JSON, by who has it at hand */
  readonly text?: string
  /** series and streams follow it */
  readonly kept?: KeptMessage | undefined
  readonly hops?: number
  /** with hops: what everything that came of one arrival is known by */
  readonly root?: string
  /** places of messages that came without a timestamp: theirs is that of their arrival */
  readonly unstamped?: readonly number[]
  /** keys that do not count when one of them is compared with one that was taken; `all`: none is one that was taken */
  readonly identityIgnores?: readonly string[] | 'all'
}

/** What the broker asks of the resources. */
export interface Discovery {
  /** Makes those that do not exist; returns at once for those it knows. `message` is what each was seen in first. */
  discover(
    seen: readonly { readonly resource: string; readonly time: number; readonly message: BrokerMessage }[],
  ): Promise<void> | undefined
}

/** What the broker asks of whoever runs commands of resources. */
export interface CommandOutbox {
  /** to be committed with the command, so that it runs also after a crash */
  planning(resource: string, command: BrokerMessage, hops: number, root?: string): readonly Write[]
  /** After the commit. Never waits for the command. */
  committed(resource: string): void
}
