/**
 * The data broker of one tenant takes in messages, streams them to subscribers and stores time series. The contract is
 * the same over HTTP, WebSockets, MQTT and fetch (`client.ts`). The service validates bodies itself: a body may be any
 * JSON.
 *
 * BROKER-1 a post is acknowledged once it is in the log, together with the inputs of tasks; an import once it is in
 *   series
 * BROKER-2 a read includes all posts acknowledged before it: reads of series, messages and current values wait until
 *   series contain those posts. A post is acknowledged as soon as it is durable; the lag of series is bounded, and
 *   beyond the bound acknowledgements wait. After a crash, series catch up from the log
 * BROKER-3 messages of one resource reach tasks and subscribers in the order in which they were acknowledged
 * BROKER-4 a slow reader or a slow rule never slows ingestion: queues are bounded, and dropped messages are counted
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `TOO_LARGE`, `CONFLICT` (an idempotency key
 * was used for another body), `SUPERSEDED` (for rules only: the task later acted on the resource again), `RATE_LIMITED`
 * (the queue is full), `STORE` (for a read: posts are stored, but cannot be read yet; for a post: posts are rejected
 * until they can be read), `CLOSED`.
 */
import type { EffectOfTask } from '#services/shared/contract'
import type { Caller, Feed, Issue, Json, LogPosition, Published } from '#kernel'
import type { Followed, KeptMessage } from '#log'
import type { Sample, Write } from '#storage'
import type { SeriesAnswer, SeriesPage, SeriesQuery, SeriesRemoval } from './series/series-schema.ts'

export { type SeriesAnswer, SERIES_PAGE, type SeriesPage, type SeriesQuery } from './series/series-schema.ts'

/** The service as callers use it. */
export interface BrokerService {
  /** Returns the API with the caller's rights. Cheap: call it for each request. */
  as(caller: Caller): BrokerApi
}

/** The service as the host and neighbouring services use it. */
export interface InternalBroker extends BrokerService {
  as(caller: Caller): MqttBrokerApi
  /**
   * Resolves when all earlier posts can be read. Rules call this before they read, because they receive a message
   * before its poster gets a response (BROKER-2). Rejects with `STORE`, as reads do.
   */
  readable(): Promise<void>
  readonly importing: SeriesImport
  readonly intake: BatchIntake
  /** Returns the issues for which a post or command with this body would be rejected, whatever the resource. */
  check(channel: Channel, body: unknown): readonly Issue[]
  /** Brings series up to date with the log, and resumes unfinished work. The signal aborts when streams must end. */
  start(closing?: AbortSignal): Promise<void>
  stop(): Promise<void>
  gauges(): BrokerGauges
  /** Deletes what is kept for MQTT clients about a resource. */
  resourceRemoved(resource: string): Promise<void>
}

/** Appends recorded samples to series only. Rules and subscribers do not receive them. */
export interface SeriesImport {
  /** Resolves when earlier posts are in series, so that an imported sample replaces an earlier one at the same time. */
  begin(): Promise<void>
  /** Appends at most 100,000 samples; they are durable and readable when it resolves. Creates missing resources. */
  append(samples: readonly Sample[]): Promise<void>
}

/** Takes the messages of a connector, as posts of single messages. */
export interface BatchIntake {
  /** Reads a message that names its `resource`. Throws `VALIDATION` with all problems, as a post does. */
  read(message: unknown, options?: Pick<PostOptions, 'badTime' | 'identityIgnores'>): ReadMessage
  /** Commits messages, at least one, as one unit with the writes. */
  commit(messages: readonly ReadMessage[], writes: readonly Write[]): Promise<void>
}

/** A message that passed the checks of a post. */
export interface ReadMessage {
  readonly arrived: number
}

/** Values for /metrics. Totals count since the start. */
export interface BrokerGauges {
  /** number of accepted messages and commands */
  readonly accepted: number
  /** number of posts in flight */
  readonly queued: number
  /** number of open streams of any kind */
  readonly subscribers: number
  /** number of messages lost because readers were slow */
  readonly dropped: number
  /** number of integers beyond the precision of a number, which are in messages but not in series */
  readonly unreadable: number
  /**
   * number of messages that took the time of their arrival, because their timestamp was too far from the host's clock
   */
  readonly badTime: number
  /** number of sessions of MQTT clients that are kept, connected or not */
  readonly sessions: number
  /** number of commands that wait for the acknowledgements of these clients */
  readonly pending: number
  /** number of commands that were dropped because too many waited for a client */
  readonly pendingDropped: number
  /** number of retained messages */
  readonly retained: number
  /** number of retained messages that were dropped because there were too many */
  readonly retainedDropped: number
}

/** The timestamps of live messages that are accepted, relative to the host's clock. */
export interface TimeBounds {
  /** ms ahead of the clock and behind it; `Infinity`: unbounded */
  readonly ahead: number
  readonly behind: number
  /** reject other timestamps; if false, such a message takes the time of its arrival */
  readonly refuses: boolean
}

export interface BrokerApi {
  readonly posting: PostingApi
  readonly messages: MessageApi
  readonly streams: StreamApi
  readonly series: SeriesApi
}

/** The API of clients over MQTT. */
export interface MqttBrokerApi extends BrokerApi {
  readonly retained: RetainedApi
}

/** The retained messages of topics. */
export interface RetainedApi {
  /** Posts a body, and retains its last message. */
  publish(resource: string, channel: Channel, body: unknown, options?: Pick<PostOptions, 'badTime'>): Promise<Posted>
  last(resource: string, channel: Channel): Promise<BrokerMessage | undefined>
  /** Returns the resources with a retained event. */
  resources(): readonly string[]
  /** Whether a message of a stream was published with `retain`. */
  isRetained(message: BrokerMessage): boolean
  clear(resource: string, channel: Channel): Promise<void>
}

export type Channel = 'events' | 'commands'

export interface PostOptions {
  /** store the post in series and messages; default true */
  readonly store?: boolean
  /** hand the post to tasks; default true */
  readonly forward?: boolean
  /** seconds, `42m`, or ISO 8601 */
  readonly ttl?: string | number
  /** repeating key and body within a day returns the first result and has no effect */
  readonly idempotencyKey?: string
  /** number of consecutive rules that led to the post; above 16 the post is rejected */
  readonly hops?: number
  /** if there are hops: id of the first input that led to the post */
  readonly root?: string
  /** keys to ignore when rules compare messages to detect repetitions, in addition to the host's */
  readonly identityIgnores?: readonly string[]
  /** replace a timestamp out of bounds with the time of arrival, even if the host rejects such timestamps */
  readonly badTime?: 'receipt'
  /**
   * for a post by a rule, with key and resource: rejects with `SUPERSEDED` if the task later acted on the resource
   * again
   */
  readonly cause?: EffectOfTask
}

/** The body of the response to a post. */
export interface Posted {
  readonly message: string
  readonly content: unknown
}

export interface PostingApi {
  /** Posts a message or an array of messages. Without `resource`, each message must name its own. */
  events(resource: string | undefined, body: unknown, options?: PostOptions): Promise<Posted>
  command(
    resource: string,
    body: unknown,
    options?: Pick<PostOptions, 'idempotencyKey' | 'hops' | 'root' | 'cause'>,
  ): Promise<Posted>
}

/** A stored message: its metrics, `timestamp` in epoch ms, and `resource` in results about several resources. */
export type BrokerMessage = Readonly<Record<string, Json>> & { readonly timestamp: number }

export interface MessageApi {
  /** Returns the newest messages first; at most 100 are stored. */
  last(resource: string, channel?: Channel, limit?: number): Promise<readonly BrokerMessage[]>
  /** Throws `NOT_FOUND` if no message is stored. */
  current(resource: string): Promise<BrokerMessage>
  /** Runs the query in a body of `POST /messages/query`. */
  query(body: unknown): Promise<{
    readonly query: unknown
    readonly results: readonly { readonly resource: string; readonly messages: readonly BrokerMessage[] }[]
  }>
}

export interface Subscription {
  readonly signal: AbortSignal
  /** number of the last seen message; later buffered messages are sent first */
  readonly after?: number
  /** place of the last seen message in the log; later messages are sent first */
  readonly since?: LogPosition
  /** maximum waiting messages; default 1,000 */
  readonly most?: number
  /** what to do beyond that maximum; default `dropOldest` */
  readonly overflow?: 'dropOldest' | 'end'
}

export interface StreamApi {
  /** Streams the messages of one resource as they are accepted. */
  subscribe(resource: string, channel: Channel, options: Subscription): ReturnType<Feed<BrokerMessage>['read']>
  /** Streams all events of the tenant, each with its `resource`. */
  firehose(options: Subscription): ReturnType<Feed<BrokerMessage>['read']>
}

export type StreamedMessage = Published<BrokerMessage>

export interface SeriesApi {
  /** Returns at most 2,000 points. */
  get(resource: string, metric: string, query?: SeriesQuery): Promise<SeriesPage>
  /** Returns at most `limit` samples: 2,000 by default, 10,000 at most. */
  raw(resource: string, metric: string, query?: SeriesQuery): Promise<SeriesPage>
  /**
   * Returns the newest `limit` samples (default 1) up to `until`, newest first. Without `until`, includes samples ahead
   * of the clock.
   */
  latest(resource: string, metric: string, query?: Pick<SeriesQuery, 'until' | 'limit'>): Promise<SeriesAnswer>
  /** Lists the metrics of a resource with their newest sample, sorted by name. */
  list(
    resource: string,
  ): Promise<readonly { readonly metric: string; readonly time: number; readonly value: unknown }[]>
  /**
   * Runs a query or an array of queries; the result has the same form. `next` is the body of a query for the remaining
   * points.
   */
  query(body: unknown): Promise<SeriesAnswer | readonly SeriesAnswer[]>
  /** Times are epoch ms, ISO 8601, or an age such as `2d`. */
  remove(what: SeriesRemoval): Promise<void>
}

/** The broker's port to the rule engine. */
export interface Forwarding {
  /**
   * Appends the posts and the broker's writes to the log as one unit, in the order of the calls. Posts with listening
   * tasks are logged as inputs; others only if they are to be stored. If the call rejects before `followed` was called,
   * it had no effect.
   */
  receive(posts: readonly ForwardedPost[], writes: readonly Write[], followed: Followed): Promise<unknown>
}

/** A post for the engine: invokes each listening task once. */
export interface ForwardedPost {
  readonly messages: readonly (BrokerMessage & { readonly resource: string })[]
  /** the message, or the list, as JSON */
  readonly text?: string
  /** set if series and streams also take the post from the log */
  readonly kept?: KeptMessage | undefined
  readonly hops?: number
  /** if there are hops: id of the first input that led to the post */
  readonly root?: string
  /** indexes of messages that took the time of their arrival */
  readonly unstamped?: readonly number[]
  /** keys to ignore when detecting repetitions; `all`: the post is never a repetition */
  readonly identityIgnores?: readonly string[] | 'all'
}

/** The broker's port to resources. */
export interface Discovery {
  /** Returns the resource, if it exists. */
  lookup?(id: string): object | undefined | Promise<object | undefined>
  /** Creates missing resources. Returns at once if all are known. `message`: the first message of each resource. */
  discover(
    seen: readonly { readonly resource: string; readonly time: number; readonly message: BrokerMessage }[],
  ): Promise<void> | undefined
}

/** The broker's port to the runner of commands. */
export interface CommandOutbox {
  /** Returns writes to commit with the command, so that the command runs even after a crash. */
  planning(resource: string, command: BrokerMessage, hops: number, root?: string): readonly Write[]
  /** Called after the commit. Never waits for the command. */
  committed(resource: string): void
}
