/**
 * Defines how messages reach the tasks of an engine: one by one (plain-executor.ts), or as rows (../columnar).
 *
 * EXECUTOR-1 the choice of the executor changes nothing visible but speed.
 * EXECUTOR-2 `synchronize` or `detach` precede every read or change of a task's full state.
 */
import type { Graph } from '../graph/graph.ts'
import type { Message, Sent } from '../task/origin.ts'
import type { TaskRun } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import type { Caller, Outcome } from './call-plug.ts'
import type { Counting, Counts } from './counts.ts'
import type { PendingFlush } from './reentrancy-queue.ts'
import type { HistoryOptions } from './event-history.ts'
import type { EventRecord } from './event-batch.ts'
import type { EngineEvent } from './events.ts'
import type { OpenCount } from './open-count.ts'
import type { EngineStats } from './stats.ts'

export interface Executor {
  /** Processes a message on the fastest path; false if a timer is due or it cannot emit the wanted events. */
  accept(message: Message, now: number): boolean
  source<L extends MessageListener>(resource: string): MessageSource<L>
  forTask(task: ExecutedTask): TaskExecutor
  canTell(types: number): boolean
  listenersChanged(): void
  counted(counts: Counts): Counts
  stats(): EngineStats
}

export interface MessageSource<L extends MessageListener = MessageListener> {
  readonly listeners: ListenersOf<L>
  /** Called when listeners were added or removed, or one may process its messages differently. */
  changed(): void
  take(message: Message, now: number): void
  takeFully(message: Message, now: number): void
}

export interface ListenersOf<T> extends Iterable<T> {
  readonly size: number
  add(listener: T): unknown
  delete(listener: T): unknown
}

export interface MessageListener {
  readonly executor: TaskExecutor
  receive(now: number, messages: readonly Message[]): void
}

export interface TaskExecutor {
  synchronize(): void
  /** Brings the full state up to date; it stays authoritative until the executor takes the task back. */
  detach(): void
  handOver(): void
  tookPlain(messages: readonly Message[], sent: Sent | undefined): void
  drop(): void
  modelChanged(): void
  /** Prepares an acting call that continues in the full state. `mayFail`: a failure counts as a failure of a sensor does. */
  serve(mayFail: boolean): void
  readonly ahead: number
  /** deadline of an open sensor call that the full state does not know, epoch ms */
  readonly deadline: number | undefined
}

export interface ExecutedCaller extends Caller {
  ended(execution: Execution): void
}

export interface ExecutedTask {
  readonly lane: ExecutedRun | undefined
  readonly caller: ExecutedCaller
  readonly types: number
  /** Processes a message on the full state, which the executor has brought up to date. */
  takeData(now: number, message: Message): void
  /** Continues an executor's call. `reply`: undefined: not called yet. `now`: the input's time; `at`: the clock's. */
  goOn(execution: Execution, reply: Outcome | Promise<Outcome> | undefined, now: number, at: number): void
  /** Requests a wake of the sensor in a slot at that time, epoch ms. */
  wakeAt(at: number, slot: number): void
}

export interface ExecutedRun extends TaskRun {
  rest(): void
}

/** Compiles source text that the engine generated. Injected where code generation is allowed. */
export type Generate = (parameters: readonly string[], body: string) => (...values: never[]) => unknown

export interface ExecutorHost {
  readonly globalSettings: Readonly<Record<string, unknown>>
  readonly counts: Counting
  readonly keepsLog: boolean
  readonly asksForCalls: boolean
  /** whether each call that returns a promise is journaled or timed */
  readonly tellsOfCalls: boolean
  readonly generate: Generate | undefined
  readonly end: PendingFlush
  readonly open: OpenCount
  /** Runs `work` after the current input. */
  enqueue(work: (now: number) => void): void
  readonly why: boolean
  readonly keeps: Required<HistoryOptions> | undefined
  readonly events: ObservedEvents
}

export interface ObservedEvents {
  readonly singleTypes: number
  readonly anyTypes: number
  readonly recordedFirings: number
  readonly takesRecords: boolean
  readonly needsWhy: boolean
  /** Returns whether the subscribers only count a message of this kind, which then needs no record. */
  countsKind(kind: number, graph: Graph): boolean
  record(record: EventRecord): void
  keepRecord(task: string, record: EventRecord): void
  skipRecords(task: string): void
  recordFirings(record: EventRecord): void
  readonly emitRecorded: (event: EngineEvent) => void
}
