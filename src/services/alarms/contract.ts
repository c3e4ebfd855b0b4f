/**
 * Contract of the alarms service, in process and over fetch (`client.ts`). The service validates external input itself:
 * a body may be any JSON.
 *
 * ALARM-1 at most one alarm is open per source and type (or `dedupKey`), even with two writers or two processes on one
 *   store
 * ALARM-2 `count` is how often the alarm was raised; replaying the history leads to the present state
 * ALARM-3 every change is one commit with its event; events of an alarm are delivered in the order of its history
 * ALARM-4 the state of an alarm follows the tables of `life-cycle.ts`; suppression is independent of it. A suppressed
 *   alarm is counted without announcements, and announced once when its last hold ends while it is open
 * ALARM-5 actions of a task on the alarms of a source and type, or of a `dedupKey`, take effect in the task's order: a
 *   late action is refused (`SUPERSEDED`), even after a restart
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `FINAL` (412), `PRECONDITION` (the stored
 * `revision` differs), `SUPERSEDED` (for rules only), `TOO_LARGE`, `CLOSED`.
 */
import type { Caller, Issue, Json, RevisionOptions } from '#kernel'
import type { Log, Write } from '#storage'
import type { Alarm, AlarmWhy, AttributeChange, QueuedAlarmBatch } from './alarm-schema.ts'
import type { AlarmFigures, AlarmGroupList } from './figures-schema.ts'
import type { Held } from './life-cycle.ts'
import type { AlarmComments, AlarmCounts, AlarmType } from './life-schema.ts'

export { type Alarm, LISTING, SEVERITIES } from './alarm-schema.ts'
export { FigureSum, type Occurrence } from './figures.ts'
export { type AlarmFigures, type AlarmGroupList, type RaisedFigures, RaisedFiguresSchema } from './figures-schema.ts'
export type { AlarmComments, AlarmCounts, AlarmType } from './life-schema.ts'

export interface AlarmsService {
  as(caller: Caller): AlarmsApi
}

/** The service of one tenant as the host and neighbouring services use it. */
export interface InternalAlarms extends AlarmsService {
  /**
   * Clears the open alarms of a source and type for a rule, including alarms with a `dedupKey`, and returns them.
   * Atomic with respect to raises of that source and type. Repeating an effect returns the same alarms and clears
   * nothing more.
   */
  clear(source: string, type: string, cause: AlarmCause): Promise<readonly Alarm[]>
  /**
   * Returns the problems that raising this body would have, except missing fields. Synchronous; looks at the body only.
   */
  check(body: unknown): readonly Issue[]
  /**
   * Suppresses the open alarms that the query selects (parameters of the list, or `ids`), and returns their number.
   * Replaces the suppression by the same holder. `TOO_LARGE` above 20 holds on an alarm.
   */
  suppress(select: AlarmSelection, hold: NewHold): Promise<number>
  /** Ends the suppression by a holder on all alarms, and announces alarms without another hold; returns their number. */
  release(by: string): Promise<number>
  /** Resumes batches, clears and escalates due alarms, and removes alarms that are a year old. */
  start(closing?: AbortSignal): Promise<void>
  stop(): Promise<void>
  gauges(): AlarmsGauges
  /** Counts alarms that are not cleared; the count may be some seconds old. */
  openBySeverity(): Promise<Readonly<Record<string, number>>>
  /** Counts alarms that were announced in the last ten minutes, standing and stale ones; some seconds old. */
  recentFigures(): Promise<Readonly<Record<string, number>>>
  readonly eventLog: AlarmEventLog
}

/** The log of events, for a reader that stores its position; only the latest ten thousand are kept for certain. */
export interface AlarmEventLog {
  readonly log: Pick<Log, 'read' | 'bounds'>
  /** position of the last event */
  last(): number
}

export type AlarmSelection = AlarmQuery | { readonly ids: readonly string[] }

/** Times are epoch ms. Without an end, the hold lasts until its release. */
export interface NewHold {
  readonly suppression: Exclude<Held, 'shelved'>
  /** name of the holder, such as `window/<id>` */
  readonly by: string
  readonly until?: number
  readonly reason?: string
}

/** Port to what suppresses alarms from their beginning, such as maintenance windows. Called at each raise. */
export interface AlarmSuppressor {
  /** Returns the holds on a new alarm. Synchronous, without access to stored data. */
  holdsOn(alarm: NewbornAlarm, now: number): readonly NewHold[]
  /** Returns why an alarm is not created; a repeat of an open alarm counts nevertheless. Synchronous as well. */
  discards?(alarm: NewbornAlarm, now: number): AlarmDiscard | undefined
}

/** The hold that the answer shows; the alarm itself is not stored. */
export type AlarmDiscard = NewHold

export interface NewbornAlarm {
  readonly source: { readonly id: string }
  readonly type: string
  readonly severity: string
  readonly properties?: Readonly<Record<string, Json>>
}

export interface AlarmsGauges {
  readonly openBatches: number
  readonly eventStreams: number
}

/** The rule that caused a change. */
export interface AlarmCause {
  readonly task: string
  readonly node: string
  readonly effect: string
  readonly trigger?: string
  readonly hops: number
  readonly root?: string
  /** the effect has no order, so it is never late */
  readonly unordered?: boolean
}

/**
 * `eventtype` is `io.service.alarm.` and: `AlarmRaised`, `EventOccuredAgain` (a repeat), `AlarmUpdated`,
 * `AlarmCommented`, or `AlarmAnnounced` (the last hold of an open alarm has ended). `alarm` contains `lifecycle` and
 * `suppression`: with a suppression other than `none`, people should not be notified.
 */
export interface AlarmEvent {
  readonly eventtype: string
  readonly eventtime: string
  /** the reduced properties that the stream contains */
  readonly alarm: Readonly<Record<string, Json>> & { readonly id: string; readonly source: { readonly id: string } }
  readonly changes?: readonly AttributeChange[]
  /** author of the change; absent for a repeat */
  readonly user?: string
  readonly comment?: string
  /** number of consecutive rules that led to the event */
  readonly hops: number
  /** if there are hops: id of the first input that led to the event */
  readonly root?: string
}

export interface ChangeOptions extends RevisionOptions {
  /** the rule that caused the change; a repeated effect counts once. `TOO_LARGE` above 16 hops */
  readonly cause?: AlarmCause
  /** how much history to return; `newest` returns a few dozen records without reading the store. Default `all` */
  readonly history?: 'all' | 'newest'
}

export interface RaiseOptions extends Omit<ChangeOptions, 'ifRevision'> {
  /**
   * What a repeat does to the open alarm: only counts (default), takes a higher severity with its text, or takes
   * severity and text. A higher severity makes an acknowledged alarm unacknowledged.
   */
  readonly onRepeat?: OnRepeat
}

export type OnRepeat = 'count' | 'highest' | 'replace'

export interface AlarmsApi {
  /** Returns a new alarm, or repeats an open alarm. */
  raise(body: unknown, options?: RaiseOptions): Promise<Alarm>
  /** Acknowledges an open alarm; a returned alarm ends. The body may have a `comment`. */
  acknowledge(id: string, body?: unknown, options?: ChangeOptions): Promise<Alarm>
  /**
   * Shelves an open alarm: `{ until, reason }`. A new alarm of its source and type inherits the shelving. `VALIDATION`
   * for an end in the past, or beyond `longestShelving` of the type.
   */
  shelve(id: string, body: unknown, options?: ChangeOptions): Promise<Alarm>
  unshelve(id: string, body?: unknown, options?: ChangeOptions): Promise<Alarm>
  /** Adds a comment: `{ text }`; also to a finished alarm. `TOO_LARGE` above a thousand comments. */
  comment(id: string, body: unknown, options?: ChangeOptions): Promise<Alarm>
  comments(id: string): Promise<AlarmComments>
  /** Counts alarms by their states; takes the filters of the list. */
  counts(query: AlarmQuery): Promise<AlarmCounts>
  /**
   * Returns the figures of the alarm system in a period: `from`, `until`, `operators`; default: the last day, one
   * operator. `TOO_LARGE` above 200,000 alarms.
   */
  figures(query: AlarmQuery): Promise<AlarmFigures>
  /** Groups the alarms of a period (as for `figures`) by rule, resource tree and time. */
  groups(query: AlarmQuery): Promise<AlarmGroupList>
  readonly types: {
    list(): Promise<readonly AlarmType[]>
    get(type: string): Promise<AlarmType>
    put(type: string, body: unknown, options?: RevisionOptions): Promise<AlarmType>
    remove(type: string, options?: RevisionOptions): Promise<void>
  }
  get(id: string): Promise<Alarm>
  update(id: string, body: unknown, options?: ChangeOptions): Promise<Alarm>
  remove(id: string, options?: RevisionOptions): Promise<void>
  list(query: AlarmQuery): Promise<AlarmPage>
  timeline(query: AlarmQuery): Promise<readonly TimelineItem[]>
  /** Explains the alarm from its data: task, invocation, row of the gate, trigger. */
  why(id: string): Promise<AlarmWhy>
  /**
   * Streams events from now on, or from after an earlier id. Ends with the signal, when the host stops, or when the
   * reader is too slow.
   */
  events(options: AlarmStreamOptions): AsyncIterable<StreamedAlarmEvent>
  readonly batches: {
    queue(body: unknown): Promise<QueuedAlarmBatch>
    get(id: string): Promise<Readonly<Record<string, unknown>>>
  }
}

/** Parameters by name; a repeated parameter becomes an array. */
export type AlarmQuery = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface AlarmPage {
  readonly total: number
  readonly page: number
  readonly size: number
  readonly alarms: readonly Alarm[]
}

export interface TimelineItem {
  readonly timestamp: number
  readonly type: string
  readonly alarm: Readonly<Record<string, Json>>
}

export interface AlarmStreamOptions {
  readonly signal: AbortSignal
  /** last seen id; kept events after it are sent first */
  readonly after?: string
  /** `type`, `status`, `severity`, `source`, `lifecycle`, `suppression` of the alarm after the event */
  readonly where?: AlarmQuery
}

export interface StreamedAlarmEvent {
  /** ascends across events and restarts */
  readonly id: string
  /** JSON of `{ eventtype, eventtime, alarm, changes? }`, serialized once for all readers */
  readonly text: string
}

/** Port to the engine. Events start tasks that observe alarms of a resource. */
export interface AlarmForwarding {
  /**
   * Commits the writes together with the inputs of tasks, in the order of the calls. If no task observes the alarms,
   * commits only the writes.
   */
  receive(
    message: Readonly<Record<string, unknown>> & { readonly resource: string },
    options: { readonly writes: readonly Write[]; readonly hops: number; readonly root?: string },
  ): Promise<unknown>
}

/** Port to the rules service. Returns the explanation of a node that was stored with the effect, if it still exists. */
export interface CauseReader {
  explain(cause: AlarmCause): Promise<unknown>
}
