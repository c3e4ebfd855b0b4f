/**
 * How messages reach the tasks of an engine: engine and tasks know only this interface.
 *
 * The plain executor (plain-executor.ts) passes each message to each task; the columnar one (../columnar) keeps tasks
 * of one shape as rows of numbers, and synchronizes a row's task when it is read. Events, reasons and a task's history
 * may come from an executor, too: reading them need not detach a task.
 *
 * EXECUTOR-1 the choice of the executor changes nothing visible but speed.
 * EXECUTOR-2 `synchronize` or `detach` precede every read or change of a task's full state.
 */
import type { Message, Sent } from '../task/origin.ts'
import type { TaskRun } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import type { Caller, Outcome } from './call-plug.ts'
import type { Counting, Counts } from './counts.ts'
import type { PendingFlush } from './reentrancy-queue.ts'
import type { HistoryOptions } from './event-history.ts'
import type { EventRecord } from './event-batch.ts'
import type { EngineEvent } from './events.ts'
import type { EngineStats } from './stats.ts'

export interface Executor {
  /** Takes a message on the shortest path, if the executor can emit what is wanted and no timer is due; else false. */
  accept(message: Message, now: number): boolean
  source<L extends MessageListener>(resource: string): MessageSource<L>
  forTask(task: ExecutedTask): TaskExecutor
  /** Whether rows can emit events of these types, as bits. */
  canTell(types: number): boolean
  listenersChanged(): void
  counted(counts: Counts): Counts
  stats(): EngineStats
}

export interface MessageSource<L extends MessageListener = MessageListener> {
  readonly listeners: ListenersOf<L>
  /** Listeners came or went, or one may take its messages differently. */
  changed(): void
  /** Takes a message that `accept` did not take. */
  take(message: Message, now: number): void
  /** Every listener takes it on its full state. */
  takeFully(message: Message, now: number): void
}

export interface ListenersOf<T> extends Iterable<T> {
  readonly size: number
  /** Keeps the position of a listener that is added again. */
  add(listener: T): unknown
  delete(listener: T): unknown
}

export interface MessageListener {
  readonly executor: TaskExecutor
  receive(now: number, messages: readonly Message[]): void
}

export interface TaskExecutor {
  /** Brings the full state up to date, for a read. */
  synchronize(): void
  /** Brings the full state up to date, for a change: it stays authoritative until the executor takes the task back. */
  detach(): void
  /** Hands over what the history of the task lacks. */
  handOver(): void
  /** Counts messages before the task takes them on its full state. */
  tookPlain(messages: readonly Message[], sent: Sent | undefined): void
  drop(): void
  modelChanged(): void
  /**
   * Prepares an acting call that continues in the full state, which need not be up to date for it: sets its time and
   * hands over the history. `mayFail`: a failure counts with those of sensors.
   */
  serve(mayFail: boolean): void
  readonly ahead: number
}

export interface ExecutedCaller extends Caller {
  ended(execution: Execution): void
}

export interface ExecutedTask {
  /** the full state; undefined before the first start */
  readonly lane: ExecutedRun | undefined
  readonly caller: ExecutedCaller
  /** types with a subscriber to this task, as bits */
  readonly types: number
  /** Takes a message on its full state, which the executor has brought up to date. */
  takeData(now: number, message: Message): void
  /**
   * Continues a call of the executor in the full state. `reply`: the result of its plug; undefined: not called yet.
   * `now`: the input's time; `at`: the clock's.
   */
  goOn(execution: Execution, reply: Outcome | Promise<Outcome> | undefined, now: number, at: number): void
}

export interface ExecutedRun extends TaskRun {
  /** Completes the last input; the next ones are taken by the executor. */
  rest(): void
}

/** Compiles source text that the engine generated; injected where code generation is allowed. */
export type Generate = (parameters: readonly string[], body: string) => (...values: never[]) => unknown

export interface ExecutorHost {
  readonly globalSettings: Readonly<Record<string, unknown>>
  readonly counts: Counting
  readonly keepsLog: boolean
  /** each call needs a permission, or its answer is delayed */
  readonly asksForCalls: boolean
  readonly generate: Generate | undefined
  readonly end: PendingFlush
  readonly why: boolean
  /** undefined: without a history */
  readonly keeps: Required<HistoryOptions> | undefined
  readonly events: ObservedEvents
}

/** The demand for events, and where an executor emits them. */
export interface ObservedEvents {
  /** types that single-event subscribers want of all tasks, and that rows cannot emit, as bits */
  readonly toldTypes: number
  /** types that any subscriber wants of any task, as bits */
  readonly anyTypes: number
  /** types of firings or held ones of which rows keep records, as bits */
  readonly recordedFirings: number
  /** whether batch subscribers take records of messages of all tasks */
  readonly takesRecords: boolean
  readonly wantsWhy: boolean
  record(record: EventRecord): void
  keepRecord(task: string, record: EventRecord): void
  skipRecords(task: string): void
  recordFirings(record: EventRecord): void
  /** Emits an event of a message without a record to subscribers of records. */
  readonly tellRecorded: (event: EngineEvent) => void
}
