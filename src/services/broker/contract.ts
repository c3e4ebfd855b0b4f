/**
 * The data broker of one tenant: messages in, streams out, time series; the same over HTTP, WebSockets, MQTT and fetch
 * (`client.ts`). The service validates bodies itself: a body may be any JSON.
 *
 * BROKER-1 a post is acknowledged after the log has it, together with the inputs of tasks; an import after series have
 *   it
 * BROKER-2 a read includes all posts that were acknowledged before it: series, messages and current wait until series
 *   have them. A post is answered as soon as it is durable; the lag of series is bounded, and beyond the bound answers
 *   wait. After a crash the log has what series lack
 * BROKER-3 messages of one resource reach tasks and subscribers in the order in which they were acknowledged
 * BROKER-4 a slow reader or a slow rule never slows ingestion: queues are bounded, and dropped messages are counted
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `TOO_LARGE`, `CONFLICT` (an idempotency key
 * used for another body), `SUPERSEDED` (of rules only: the task did something later to the resource), `RATE_LIMITED`
 * (the queue is full), `STORE` (of a read: posts are stored, but cannot be read yet; of a post: posts are rejected
 * until they can), `CLOSED`.
 */
import type { EffectOfTask } from '#services/shared/contract'
import type { Caller, Feed, Issue, Json, LogPlace, Published } from '#kernel'
import type { Followed, KeptMessage } from '#log'
import type { Sample, Write } from '#storage'
import type { SeriesAnswer, SeriesPage, SeriesQuery, SeriesRemoval } from './series/series-schema.ts'

export type { SeriesAnswer, SeriesPage, SeriesQuery } from './series/series-schema.ts'

/** The service as callers reach it. */
export interface BrokerService {
  /** Returns the API as that caller sees it. Cheap: call it for each request. */
  as(caller: Caller): BrokerApi
}

/** The service inside the host, for its neighbours and the host. */
export interface InternalBroker extends BrokerService {
  /**
   * Resolves when all posts before it can be read. Rules call it before they read, because they receive a message
   * before its poster is answered (BROKER-2). Rejects with `STORE` as reads do.
   */
  readable(): Promise<void>
  readonly importing: SeriesImport
  /** Returns the issues for which a post of this body, or of this command, is rejected for any resource. */
  check(channel: Channel, body: unknown): readonly Issue[]
  /** Brings series up to the log, and resumes unfinished work. The signal aborts when streams must end. */
  start(closing?: AbortSignal): Promise<void>
  /** Answers a question of another partition of the tenant. */
  answer(question: BrokerQuestion): Promise<void>
  /** Streams messages to another partition, after a first part. Ends with the signal, or when the partition moves. */
  follow(request: FollowedStream, signal: AbortSignal): AsyncIterable<FollowedPart>
  stop(): Promise<void>
  gauges(): BrokerGauges
}

/** Appends recorded samples to series only: rules and subscribers do not receive them. */
export interface SeriesImport {
  /** Resolves when earlier posts are in series: an imported sample then replaces one of the same time. */
  begin(): Promise<void>
  /** Durable and readable when it resolves. Creates missing resources. At most 100,000. */
  append(samples: readonly Sample[]): Promise<void>
}

/** A question of the broker of another partition: plain JSON. */
export type BrokerQuestion =
  /** validated messages of resources of this partition; `key`: a repetition has no effect */
  | { readonly ask: 'take'; readonly post: object; readonly key?: string }
  /** resolves when all earlier posts of the partition can be read */
  | { readonly ask: 'readable' }

/** A stream from another partition: plain JSON. */
export interface FollowedStream {
  readonly channel: Channel
  /** absent: all resources */
  readonly resource?: string
  /** where the partition's log has the message that was seen last; later ones come first */
  readonly since?: LogPlace
}

/** A part of a stream from another partition: plain JSON. */
export type FollowedPart =
  /**
   * the first part; `place`: right before the next message; `missed`: the log no longer has all messages since `since`
   */
  | { readonly here: true; readonly place?: LogPlace; readonly missed?: true }
  | { readonly resource: string; readonly message: BrokerMessage; readonly place?: LogPlace }
  /** messages lost to a slow reader */
  | { readonly dropped: number }

/** Figures for /metrics; totals count since the start. */
export interface BrokerGauges {
  /** messages and commands that were accepted */
  readonly accepted: number
  /** posts in flight */
  readonly queued: number
  /** open streams of any kind */
  readonly subscribers: number
  /** messages lost to slow readers */
  readonly dropped: number
  /** integers beyond the precision of a number: they are in their messages, but not in series */
  readonly unreadable: number
  /** messages whose timestamp was too far from the clock of the host: they have the time of their arrival */
  readonly badTime: number
}

/** Timestamps of live messages that are accepted, by the clock of the host. */
export interface TimeBounds {
  /** ms beyond the clock and before it; `Infinity`: no bound */
  readonly ahead: number
  readonly behind: number
  /** other timestamps are rejected; else the message has the time of its arrival */
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
  /** default true: stored in series and messages */
  readonly store?: boolean
  /** default true: handed to tasks */
  readonly forward?: boolean
  /** seconds, `42m`, or ISO 8601 */
  readonly ttl?: string | number
  /** a repetition of key and body within a day returns the first answer, without effect */
  readonly idempotencyKey?: string
  /** rules in a row that led to this; above 16 it is rejected */
  readonly hops?: number
  /** with hops: id of the first input that led to it */
  readonly root?: string
  /** keys that do not count when rules compare messages to detect repetitions, besides those of the host */
  readonly identityIgnores?: readonly string[]
  /** a timestamp out of bounds is replaced by that of the arrival, even if the host rejects such timestamps */
  readonly badTime?: 'receipt'
  /** of a rule, with a key and a resource: `SUPERSEDED` when its task did something to the resource later */
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

/** A stored message: its metrics, `timestamp` in epoch ms; `resource` in answers about several resources. */
export type BrokerMessage = Readonly<Record<string, Json>> & { readonly timestamp: number }

export interface MessageApi {
  /** Newest first; at most 100 are stored. */
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
  /** the number of the message that was seen last; buffered later ones come first */
  readonly after?: number
  /** where the log has the message that was seen last; later ones come first */
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
  /**
   * The newest `limit` samples (default 1) up to `until`; without it, also samples ahead of the clock; newest first.
   */
  latest(resource: string, metric: string, query?: Pick<SeriesQuery, 'until' | 'limit'>): Promise<SeriesAnswer>
  /** The metrics of a resource with their newest sample, by name. */
  list(
    resource: string,
  ): Promise<readonly { readonly metric: string; readonly time: number; readonly value: unknown }[]>
  /** One query or an array of them; the answer has the same form, and `next` is the body of a query for the rest. */
  query(body: unknown): Promise<SeriesAnswer | readonly SeriesAnswer[]>
  /** Times are epoch ms, ISO 8601, or an age such as `2d`. */
  remove(what: SeriesRemoval): Promise<void>
}

/** The port to the engine. */
export interface Forwarding {
  /**
   * Appends the posts to the log as one unit with the broker's writes, in the order of the calls: posts with listening
   * tasks as their inputs, others if they are stored. A rejection before `followed` was called means that nothing was
   * done.
   */
  receive(posts: readonly ForwardedPost[], writes: readonly Write[], followed: Followed): Promise<unknown>
}

/** A post: one invocation of each task that listens to it. */
export interface ForwardedPost {
  readonly messages: readonly (BrokerMessage & { readonly resource: string })[]
  /** the message, or the list, as JSON */
  readonly text?: string
  /** series and streams follow it */
  readonly kept?: KeptMessage | undefined
  readonly hops?: number
  /** with hops: id of the first input that led to it */
  readonly root?: string
  /** indices of messages that have the time of their arrival */
  readonly unstamped?: readonly number[]
  /** keys that do not count when repetitions are detected; `all`: the post is not a repetition */
  readonly identityIgnores?: readonly string[] | 'all'
}

/** The port to the resources. */
export interface Discovery {
  /** Creates missing resources; returns at once for known ones. `message`: the first of each. */
  discover(
    seen: readonly { readonly resource: string; readonly time: number; readonly message: BrokerMessage }[],
  ): Promise<void> | undefined
}

/** The port to the runner of commands. */
export interface CommandOutbox {
  /** Returns writes to commit with the command, so that it also runs after a crash. */
  planning(resource: string, command: BrokerMessage, hops: number, root?: string): readonly Write[]
  /** After the commit. Never waits for the command. */
  committed(resource: string): void
}
