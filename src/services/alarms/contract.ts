/**
 * Contract of the alarms service, in process and over fetch (`client.ts`). The service validates external input itself:
 * a body may be any JSON.
 *
 * ALARM-1 at most one alarm is open per source and type (or `dedupKey`), even with two writers or two processes on one
 *   store
 * ALARM-2 `count` is how often the alarm was raised; replaying the history leads to the present state
 * ALARM-3 every change is one commit with its event; events of an alarm are delivered in the order of its history
 * ALARM-5 actions of a task on the alarms of a source and type, or of a `dedupKey`, take effect in the task's order: a
 *   late action is refused (`SUPERSEDED`), even after a restart
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `FINAL` (412), `PRECONDITION` (the stored
 * `revision` differs), `SUPERSEDED` (for rules only), `TOO_LARGE`, `CLOSED`.
 */
import type { Caller, Issue, Json, RevisionOptions } from '#kernel'
import type { Log, Write } from '#storage'
import type { Alarm, AlarmWhy, AttributeChange, QueuedAlarmBatch } from './alarm-schema.ts'

export { type Alarm, LISTING } from './alarm-schema.ts'

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
  /** Resumes batches, clears and escalates due alarms, and removes alarms that are a year old. */
  start(closing?: AbortSignal): Promise<void>
  stop(): Promise<void>
  gauges(): AlarmsGauges
  readonly eventLog: AlarmEventLog
}

/** The log of events, for a reader that keeps its place; only the latest ten thousand are certain to be there. */
export interface AlarmEventLog {
  readonly log: Pick<Log, 'read' | 'bounds'>
  /** position of the last event */
  last(): number
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

export interface AlarmEvent {
  readonly eventtype: string
  readonly eventtime: string
  /** the reduced properties that the stream contains */
  readonly alarm: Readonly<Record<string, Json>> & { readonly id: string; readonly source: { readonly id: string } }
  readonly changes?: readonly AttributeChange[]
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

export interface AlarmsApi {
  /** Returns a new alarm, or repeats an open alarm. */
  raise(body: unknown, options?: Omit<ChangeOptions, 'ifRevision'>): Promise<Alarm>
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
