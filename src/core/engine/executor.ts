/**
 * Defines how messages reach the tasks of an engine; engine and tasks know only this interface.
 *
 * The plain executor (plain-executor.ts) passes each message to each task. The columnar executor (../columnar) stores
 * tasks of one shape as rows of numbers, and synchronizes a task's full state when it is read. An executor may also
 * supply events, reasons and a task's history, so that reading these need not detach a task.
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
  /**
   * Processes a message on the fastest path, if no timer is due and the executor can emit the wanted events; else
   * returns false.
   */
  accept(message: Message, now: number): boolean
  source<L extends MessageListener>(resource: string): MessageSource<L>
  forTask(task: ExecutedTask): TaskExecutor
  /** Whether rows can emit events of these types (bits). */
  canTell(types: number): boolean
  listenersChanged(): void
  counted(counts: Counts): Counts
  stats(): EngineStats
}

export interface MessageSource<L extends MessageListener = MessageListener> {
  readonly listeners: ListenersOf<L>
  /** Called when listeners were added or removed, or one may process its messages differently. */
  changed(): void
  /** Processes a message that `accept` did not accept. */
  take(message: Message, now: number): void
  /** Makes every listener process the message on its full state. */
  takeFully(message: Message, now: number): void
}

export interface ListenersOf<T> extends Iterable<T> {
  readonly size: number
  /** Adds a listener; one that is added again keeps its position. */
  add(listener: T): unknown
  delete(listener: T): unknown
}

export interface MessageListener {
  readonly executor: TaskExecutor
  receive(now: number, messages: readonly Message[]): void
}

export interface TaskExecutor {
  /** Brings the full state up to date for reading. */
  synchronize(): void
  /**
   * Brings the full state up to date for changing. The full state stays authoritative until the executor takes the task
   * back.
   */
  detach(): void
  /** Hands over events that the history of the task still lacks. */
  handOver(): void
  /** Counts messages before the task processes them on its full state. */
  tookPlain(messages: readonly Message[], sent: Sent | undefined): void
  drop(): void
  modelChanged(): void
  /**
   * Prepares an acting call that continues in the full state, which may be out of date: sets its time and hands over
   * the history. `mayFail`: a failure counts like those of sensors.
   */
  serve(mayFail: boolean): void
  readonly ahead: number
}

export interface ExecutedCaller extends Caller {
  ended(execution: Execution): void
}

export interface ExecutedTask {
  /** full state; undefined before the first start */
  readonly lane: ExecutedRun | undefined
  readonly caller: ExecutedCaller
  /** types that subscribers want of this task, as bits */
  readonly types: number
  /** Processes a message on the full state, which the executor has brought up to date. */
  takeData(now: number, message: Message): void
  /**
   * Continues a call that the executor began in the full state. `reply`: the result of its plug; undefined: not called
   * yet. `now`: the input's time; `at`: the clock's.
   */
  goOn(execution: Execution, reply: Outcome | Promise<Outcome> | undefined, now: number, at: number): void
}

export interface ExecutedRun extends TaskRun {
  /** Completes the last input; the executor processes the next ones. */
  rest(): void
}

/** Compiles source text that the engine generated. Injected where code generation is allowed. */
export type Generate = (parameters: readonly string[], body: string) => (...values: never[]) => unknown

export interface ExecutorHost {
  readonly globalSettings: Readonly<Record<string, unknown>>
  readonly counts: Counting
  readonly keepsLog: boolean
  /** true when each call needs a permission, or its result is delayed */
  readonly asksForCalls: boolean
  readonly generate: Generate | undefined
  readonly end: PendingFlush
  readonly why: boolean
  /** limits of the history; undefined: none is kept */
  readonly keeps: Required<HistoryOptions> | undefined
  readonly events: ObservedEvents
}

/** Says which events subscribers want, and where an executor emits them. */
export interface ObservedEvents {
  /** types that subscribers to single events want of all tasks and rows cannot emit, as bits */
  readonly toldTypes: number
  /** types that any subscriber wants of any task, as bits */
  readonly anyTypes: number
  /** `fired` and `held` types that rows record, as bits */
  readonly recordedFirings: number
  /** whether batch subscribers want records of messages of all tasks */
  readonly takesRecords: boolean
  readonly wantsWhy: boolean
  record(record: EventRecord): void
  keepRecord(task: string, record: EventRecord): void
  skipRecords(task: string): void
  recordFirings(record: EventRecord): void
  /** Emits an event of a message that has no record to subscribers that receive records. */
  readonly tellRecorded: (event: EngineEvent) => void
}
