/**
 * How messages reach the tasks of an engine: the engine and its tasks know this interface and no more.
 *
 * There are two: the plain executor (plain-executor.ts) hands each message to each task; the columnar one
 * (../columnar) keeps tasks of one shape as rows of numbers, and a row's task is made up to date when somebody asks.
 * Events, reasons and a task's history may come from an executor, too: then who reads them need not detach a task.
 *
 * EXECUTOR-1 which executor an engine has changes nothing that can be seen but speed.
 * EXECUTOR-2 whoever reads or changes a task's full state has called `synchronize` or `detach` before.
 */
import type { Message, Sent } from '../task/origin.ts'
import type { TaskRun } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import type { Caller, Outcome } from './call-plug.ts'
import type { Counting, Counts } from './counts.ts'
import type { EndOfInput } from './end-of-input.ts'
import type { HistoryOptions } from './event-history.ts'
import type { EventRecord } from './event-batch.ts'
import type { EngineEvent } from './events.ts'
import type { EngineStats } from './stats.ts'

export interface Executor {
  /** Takes a message the shortest way: the executor can tell what is wanted, and no timer is due. False when there is none. */
  accept(message: Message, now: number): boolean
  /** The messages of a resource, for those that hear it. */
  source<L extends MessageListener>(resource: string): MessageSource<L>
  /** How a task takes its messages. */
  forTask(task: ExecutedTask): TaskExecutor
  /** Whether events of these types, as bits, need no task to take its messages on its full state. */
  canTell(types: number): boolean
  /** Others listen. */
  listenersChanged(): void
  /** What the engine counted, together with what was done here. */
  counted(own: Counts): Counts
  /** Which way messages took so far. */
  stats(): EngineStats
}

/** The messages of one resource, and the tasks that hear them. */
export interface MessageSource<L extends MessageListener = MessageListener> {
  /** in the order in which they came */
  readonly listeners: ListenersOf<L>
  /** Listeners came or went, or one may take its messages another way. */
  changed(): void
  /** Takes a message that was not accepted the shortest way. */
  take(message: Message, now: number): void
  /** Every listener takes it on its full state. */
  takeFully(message: Message, now: number): void
}

/** A set, as far as it is needed here. */
export interface ListenersOf<T> extends Iterable<T> {
  readonly size: number
  /** In place of what it listened to before; it keeps its place among those of a resource. */
  add(listener: T): unknown
  delete(listener: T): unknown
}

/** A task that hears a resource. */
export interface MessageListener {
  readonly executor: TaskExecutor
  /** Takes messages on its full state. */
  receive(now: number, messages: readonly Message[]): void
}

/** One task, as its executor has it. */
export interface TaskExecutor {
  /** Brings the full state up to date, for somebody who reads it. */
  synchronize(): void
  /** The same for somebody who changes it: all that follows goes by the full state until the executor sees fit. */
  detach(): void
  /** Hands over what the history of the task does not have yet. */
  handOver(): void
  /** Counts messages that the task takes on its full state, before it does. */
  tookPlain(messages: readonly Message[], sent: Sent | undefined): void
  /** What the full state does not know is not wanted any more. */
  drop(): void
  /** The task has another model. */
  modelChanged(): void
  /**
   * A call that acts goes on in the full state, which need not be up to date for that: its time is, and the history has
   * all that came before. `mayFail`: a failure counts with those of sensors.
   */
  serve(mayFail: boolean): void
  /** invocations that the full state has not seen */
  readonly ahead: number
}

export interface ExecutedCaller extends Caller {
  /** The plug has answered. */
  ended(execution: Execution): void
}

/** What an executor asks of a task. */
export interface ExecutedTask {
  /** the full state and who serves it; undefined before the first start */
  readonly lane: ExecutedRun | undefined
  readonly caller: ExecutedCaller
  /** types that somebody wants of its very events, as bits */
  readonly types: number
  /** Takes a message on its full state. The executor has brought that up to date, and minds what comes after. */
  takeData(now: number, message: Message): void
  /**
   * A call that began here goes on in the full state. `given`: what its plug gave; undefined: that is not called yet.
   * `now`: its input's time; `at`: the clock's.
   */
  goOn(execution: Execution, given: Outcome | Promise<Outcome> | undefined, now: number, at: number): void
}

export interface ExecutedRun extends TaskRun {
  /** Nothing of the last input is left: those that follow are taken elsewhere. */
  rest(): void
}

/** Makes a function of source text that the engine wrote; given from outside, where code may be generated. */
export type Generate = (parameters: readonly string[], body: string) => (...given: never[]) => unknown

/** What an executor needs of its engine. */
export interface ExecutorHost {
  readonly globalSettings: Readonly<Record<string, unknown>>
  readonly counts: Counting
  /** what plugs log is kept though nobody listens */
  readonly keepsLog: boolean
  /** each call has to be asked for, or its answer is held back */
  readonly asksForCalls: boolean
  /** makes functions of source text; absent where that is not allowed */
  readonly generate: Generate | undefined
  readonly end: EndOfInput
  /** whether `fired` events carry their why */
  readonly why: boolean
  /** undefined: no events are kept */
  readonly keeps: Required<HistoryOptions> | undefined
  readonly events: HeardEvents
}

/** Which events of an executor's own somebody wants, and who is told. */
export interface HeardEvents {
  /** types that somebody wants of all tasks as they happen, and that rows cannot emit, as bits */
  readonly toldTypes: number
  /** types that somebody wants of any task in whatever way, as bits */
  readonly anyTypes: number
  /** types of what fires or is held back of which rows keep records, as bits */
  readonly recordedFirings: number
  /** whether somebody takes records of messages of all tasks, of which events can be made later */
  readonly takesRecords: boolean
  /** whether somebody wants `fired` events with their why */
  readonly wantsWhy: boolean
  /** What a message did. */
  record(record: EventRecord): void
  /** What a message did, for the history of a task. */
  keepRecord(task: string, record: EventRecord): void
  /** Of messages of a task there will be no record in its history. */
  skipRecords(task: string): void
  /** What a message fired, when that is told in records. */
  recordFirings(record: EventRecord): void
  /** An event of a message of which there will be no record, for those who take records. */
  readonly tellRecorded: (event: EngineEvent) => void
}
