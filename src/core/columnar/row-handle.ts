/** Defines the handle that links a task to its row in a batch, and the interfaces between the two. */
import type { Outcome } from '../engine/call-plug.ts'
import type { Scope } from '../language/placeholders/scope.ts'
import type { PlugContext } from '../plug/plug.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel, TaskRun } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'
import type { VectorizedBatch } from './vectorized-batch.ts'
import type { FieldSetHistory, Known, UnknownMessages } from './field-set-history.ts'
import type { Fields } from './message-fields.ts'
import type { Part } from './message-parts.ts'
import type { IndexedBatch } from './single-listener-index.ts'
import type { Progress } from './replay.ts'
import type { RowEffect } from './seen-task.ts'
import type { BatchFit, BatchShape } from './batch-shape.ts'

export interface TakenSource {
  /** number of messages taken while a handle existed */
  readonly total: number
  fieldSetsAt(index: number): FieldSetHistory
  changed(): void
  messageOf(total: number): Message
  /** Returns the arrival of one of the last two messages, if stamped: the clock in epoch ms. */
  arrivalOf(total: number): number
}

export interface Attachable {
  readonly handle: RowHandle | undefined
  readonly canAttach: boolean
  readonly isCalling: boolean
  /** Turns the listener into a row if nothing is open after `message`, its last one. */
  attach(message: Message, source: TakenSource): void
  /** Then continues the row if possible. Returns false without a row or while waiting. */
  takeFully(now: number, message: Message, time: number): boolean
  detach(): void
}

export interface BatchTask {
  readonly model: TaskModel
  readonly state: TaskState
  call(execution: Execution): Outcome
  callAs(run: TaskRun, execution: Execution): Outcome
  /** Creates a plug's view of a call that is open in the full state. `now`: the message's time; `at`: the clock. */
  view(execution: Execution, now: number, at: number): OpenView
  /** Returns the full state with the time of a message that the row takes, epoch ms. `at`: the clock. */
  timed(now: number, at: number): TaskRun
  begin(effect: RowEffect): void
  viewOf(effect: RowEffect): OpenView
  ended(execution: Execution): void
  detach(): void
  goOn(execution: Execution, result: Outcome | Promise<Outcome> | undefined, now: number, at: number): void
  done(handle: RowHandle, message: Message): void
}

export interface RowHandle {
  readonly batch: Batch
  readonly row: number
  readonly task: BatchTask
  readonly fit: BatchFit
  readonly source: TakenSource
  /** number of messages of the source before the row's first */
  offset: number
  /** number of the row's messages that the full state has processed */
  materializedCount: number
  /** set when the full state is ahead of the row: it has an open call, or takes a message */
  isAway: boolean
  /** the last messages that the row took with failing sensors; undefined: none that is still needed */
  unknown: UnknownMessages | undefined
  /** set once actuator calls continued in the full state, which then stores all actuator results */
  acts: boolean
  /** numbers of the messages that failed since the last synchronization, not counting messages that ran no sensor */
  failed: number[]
}

export type OpenView = PlugContext & Scope & { freeze(): void; outlasts(): void }

export interface Opened {
  readonly execution: Execution
  readonly view: OpenView
}

export interface Batch {
  readonly shape: BatchShape
  /** whether all messages of its rows are stamped, each later than the one before; otherwise none is stamped */
  readonly isStamped: boolean
  /** undefined unless all events of messages have a subscriber */
  readonly records: object | undefined
  readonly history: object | undefined
  /** Sends the events so far of a row's current message to the history, because an event outside the row follows. */
  emitSoFar(row: number): void
  opened: number
  taken: number
  /** rows that take their next message with `takeUnknown` */
  readonly oddGates: ReadonlyMap<number, unknown>
  vectorized: number
  indexed(fields: Fields): IndexedBatch
  partOf(fields: Fields): Part | null
  /** Returns the first place that needs the state machine. */
  receiveAll(list: readonly number[], from: number, message: Message, part: Part, isFirst: boolean): number
  /** Called before a list of rows takes a message; `end` is called after it. */
  begin(fieldSets: FieldSetHistory): void
  end(): void
  vectorize(rows: readonly number[], last: Message, fieldSets: FieldSetHistory): VectorizedBatch | undefined
  /** Ends a vectorized batch; its rows continue individually. */
  flush(vectorized: VectorizedBatch): void
  countOf(row: number): number
  /** number of messages since the last synchronization that began no invocation */
  silentOf(row: number): number
  handleAt(row: number): RowHandle
  synchronize(handle: RowHandle): void
  serve(handle: RowHandle, mayFail: boolean): void
  /** Begins an actuator call of a row, or returns undefined when the full state must. */
  beginEffect(row: number, slot: number, trigger: number): RowEffect | undefined
  handOver(handle: RowHandle): void
  /** the clock, epoch ms, when the last stamped message or late result arrived */
  readonly lastAt: number
  free(handle: RowHandle): void
  /** Takes a message with sensors that fail now or failed before; returns false when the row cannot. */
  takeUnknown(row: number, message: Message, now: number, known: Known, part: Part): boolean
  /** Lets the full state, which is up to date, take the row's next message. `reattach` or `free` must follow. */
  beginFully(handle: RowHandle, time: number): void
  materializeTo(handle: RowHandle, progress: Progress): Execution | undefined
  reattach(handle: RowHandle): void
  earlierFirings(handle: RowHandle): number
  fieldSetsOf(handle: RowHandle): FieldSetHistory
  messageOf(handle: RowHandle): Message
  timeOf(handle: RowHandle): number
}
