/**
 * Alarms as others see them. The same over HTTP and over fetch (`client.ts`). Whatever comes from
 * outside is read by the service itself: a body may be any JSON.
 *
 * ALARM-1 at most one open alarm per source and type (or `dedupKey`), also with two writers and two processes on one
 *   store
 * ALARM-2 `count` is the number of creations; the history replays to the present state
 * ALARM-3 every change is one commit with its event; events of one alarm are told in the order of its history
 * ALARM-5 what a task does to the alarms of a source and type, or of a `dedupKey`, is done in its order: what comes
 *   late is refused (`SUPERSEDED`), also after a restart
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `FINAL` (412), `PRECONDITION` (another
 * `revision` is there), `SUPERSEDED` (of rules alone),
 * `TOO_LARGE`, `CLOSED`.
 */
import type { Caller, Issue, Json, RevisionOptions } from '#kernel'
import type { Write } from '#storage'
import type { Alarm, AlarmWhy, AttributeChange, QueuedAlarmBatch } from './alarm-schema.ts'

export type { Alarm } from './alarm-schema.ts'

/** The service as callers reach it. */
export interface AlarmsService {
  as(caller: Caller): AlarmsApi
}

/** The service of one tenant inside the host: what its neighbours and the host call. */
export interface InternalAlarms extends AlarmsService {
  /**
   * For rules: clears whatever is open of a source and type, also under keys of their own, and gives those alarms. One
   * operation: what is raised of that source and type is raised before it or after it. The same effect again gives the
   * same alarms and clears nothing more.
   */
  clear(source: string, type: string, cause: AlarmCause): Promise<readonly Alarm[]>
  /** What a raise of this body would refuse; parts that have to be there may be missing. At once, from the body alone. */
  check(body: unknown): readonly Issue[]
  /** Goes on with batches, clears and escalates what is due, lets go of what is a year old. */
  start(closing?: AbortSignal): Promise<void>
  stop(): Promise<void>
  gauges(): AlarmsGauges
}

export interface AlarmsGauges {
  readonly openBatches: number
  readonly eventStreams: number
}

/** What caused a change, when a rule did. */
export interface AlarmCause {
  readonly task: string
  readonly node: string
  readonly effect: string
  readonly trigger?: string
  readonly hops: number
  /** what everything that came of one arrival is known by */
  readonly root?: string
  /** the effect does not say what it comes after: it is never late */
  readonly unordered?: boolean
}

export interface AlarmEvent {
  readonly eventtype: string
  readonly eventtime: string
  /** the reduced properties of the stream */
  readonly alarm: Readonly<Record<string, Json>> & { readonly id: string; readonly source: { readonly id: string } }
  readonly changes?: readonly AttributeChange[]
  /** rules in a row that led to it */
  readonly hops: number
  /** with hops: what everything that came of one arrival is known by */
  readonly root?: string
}

export interface ChangeOptions extends RevisionOptions {
  /** the rule behind it; the same effect twice counts once. `TOO_LARGE` above 16 hops */
  readonly cause?: AlarmCause
  /** of what is given back; `newest`: a few dozen records that cost nothing to read. Default `all` */
  readonly history?: 'all' | 'newest'
}

export interface AlarmsApi {
  /** New, or a repeat of one that is open. */
  raise(body: unknown, options?: Omit<ChangeOptions, 'ifRevision'>): Promise<Alarm>
  get(id: string): Promise<Alarm>
  update(id: string, body: unknown, options?: ChangeOptions): Promise<Alarm>
  remove(id: string, options?: RevisionOptions): Promise<void>
  list(query: AlarmQuery): Promise<AlarmPage>
  timeline(query: AlarmQuery): Promise<readonly TimelineItem[]>
  /** The chain from the data to the alarm: task, invocation, row of the gate, trigger. */
  why(id: string): Promise<AlarmWhy>
  /** From now on, or after an id of before; ends with the signal, with the host, or when its reader is too slow. */
  events(options: AlarmStreamOptions): AsyncIterable<StreamedAlarmEvent>
  readonly batches: {
    queue(body: unknown): Promise<QueuedAlarmBatch>
    get(id: string): Promise<Readonly<Record<string, unknown>>>
  }
}

/** Parameters by name; those that repeat are arrays. */
export type AlarmQuery = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface AlarmPage {
  readonly total: number
  readonly page: number
  readonly size: number
  readonly alarms: readonly Alarm[]
}

export interface TimelineItem {
  /** epoch ms */
  readonly timestamp: number
  readonly type: string
  readonly alarm: Readonly<Record<string, Json>>
}

export interface AlarmStreamOptions {
  readonly signal: AbortSignal
  /** the id that was seen last: what is kept of the events since then comes first */
  readonly after?: string
}

export interface StreamedAlarmEvent {
  /** rises from event to event, over restarts too */
  readonly id: string
  /** JSON of `{ eventtype, eventtime, alarm, changes? }`, made once for all readers */
  readonly text: string
}

/** What alarms ask of the engine: events wake the tasks that listen to the alarms of a resource. */
export interface AlarmForwarding {
  /**
   * Commits the writes whole with the inputs of tasks, in the order of the calls; without tasks that listen, the writes
   * alone.
   */
  receive(
    message: Readonly<Record<string, unknown>> & { readonly resource: string },
    options: { readonly writes: readonly Write[]; readonly hops: number; readonly root?: string },
  ): Promise<unknown>
}

/** What `why` asks of the rules: the explanation of a node as it was kept with the effect, if it still is. */
export interface CauseReader {
  explain(cause: AlarmCause): Promise<unknown>
}
