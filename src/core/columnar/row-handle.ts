/** Defines the handle that links a task to its row in a batch, and the interfaces between the two. */
import type { Outcome } from '../engine/call-plug.ts'
import type { GraphNode } from '../graph/graph.ts'
import type { Scope } from '../language/placeholders/scope.ts'
import type { NodeData, PlugContext } from '../plug/plug.ts'
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

/** The last two messages of a resource, for its rows. */
export interface TakenSource {
  /** number of messages taken while a handle existed */
  readonly total: number
  /** Returns what is known of the messages before one of the last two, given its number. */
  fieldSetsAt(index: number): FieldSetHistory
  /** Called when rows or listeners have changed. */
  changed(): void
  messageOf(total: number): Message
  /** Returns the arrival of one of the last two messages, if stamped: the clock in epoch ms. */
  arrivalOf(total: number): number
}

/** A listener that can become a row. */
export interface Attachable {
  readonly handle: RowHandle | undefined
  /** whether the listener may ever become a row */
  readonly canAttach: boolean
  /** whether calls are open in its full state */
  readonly isCalling: boolean
  /** Turns the listener into a row if nothing is open after `message`, its last one. */
  attach(message: Message, source: TakenSource): void
  /**
   * Processes a message in the full state, then continues the row if possible. Returns false without a row or while
   * waiting.
   */
  takeFully(now: number, message: Message, time: number): boolean
  /** Brings the full state up to date and releases the handle. */
  detach(): void
}

/** The members of an executed task that a batch uses. */
export interface BatchTask {
  readonly model: TaskModel
  readonly state: TaskState
  /** Calls a sensor's plug that has no side effects. */
  call(execution: Execution): Outcome
  /** Calls the plug with another state than the task's own. */
  callAs(run: TaskRun, execution: Execution): Outcome
  /** Creates a plug's view of a call that is open in the full state. `now`: the message's time; `at`: the clock. */
  view(execution: Execution, now: number, at: number): OpenView
  /** Returns the full state with the time of a message that the row takes, epoch ms. `at`: the clock. */
  timed(now: number, at: number): TaskRun
  /** Opens an actuator call that began in the row. */
  begin(effect: RowEffect): void
  /** Returns a plug's view of the effect. */
  viewOf(effect: RowEffect): OpenView
  /** Closes a call whose result the row has. */
  ended(execution: Execution): void
  /** Releases the handle, once the full state is up to date. */
  detach(): void
  /** Returns what a plug sees that reads its context after its call. */
  over(node: GraphNode, message: Message, time: number): Opened
  /** Same as in the executed task. */
  wakeAt(at: number, slot: number): void
  /** Same as `goOn` of the executed task. */
  goOn(execution: Execution, result: Outcome | Promise<Outcome> | undefined, now: number, at: number): void
  /** Called when the consequences are done as far as possible: keeps the handle or releases it. */
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

/** The view of a call that is open in the state machine. */
export type OpenView = PlugContext & Scope & { freeze(): void; outlasts(): void }

/** A call that was opened in the state machine. */
export interface Opened {
  readonly execution: Execution
  readonly view: OpenView
}

/** A batch, as seen by its handles. */
export interface Batch {
  readonly shape: BatchShape
  /** whether all messages of its rows are stamped, each later than the one before; otherwise none is stamped */
  readonly isStamped: boolean
  /** undefined unless all events of messages have a subscriber */
  readonly records: object | undefined
  /** undefined when no history of tasks is kept */
  readonly history: object | undefined
  /** Sends the events so far of a row's current message to the history, because an event outside the row follows. */
  emitSoFar(row: number): void
  /** number of messages that continued in the state machine */
  opened: number
  /** number of messages that rows took */
  taken: number
  /** rows that take their next message with `takeUnknown` */
  readonly oddGates: ReadonlyMap<number, unknown>
  /** number of messages that many rows took in one pass */
  vectorized: number
  /** Returns the batch for an indexed row whose last message has these fields. */
  indexed(fields: Fields): IndexedBatch
  /** Returns the sensors that a message with these fields runs, or null when rows do not take it. */
  partOf(fields: Fields): Part | null
  /**
   * Takes a message into the rows of a list, starting at `from`. Returns the first place that needs the state machine.
   */
  receiveAll(list: readonly number[], from: number, message: Message, part: Part, isFirst: boolean): number
  /** Called before a list of rows takes a message; `end` is called after it. */
  begin(fieldSets: FieldSetHistory): void
  end(): void
  /** Creates a vectorized batch of rows whose last message was `last`; returns undefined when they cannot form one. */
  vectorize(rows: readonly number[], last: Message, fieldSets: FieldSetHistory): VectorizedBatch | undefined
  /** Ends a vectorized batch; its rows continue individually. */
  flush(vectorized: VectorizedBatch): void
  /** number of the row's messages so far */
  countOf(row: number): number
  /** number of messages since the last synchronization that began no invocation */
  silentOf(row: number): number
  handleAt(row: number): RowHandle
  synchronize(handle: RowHandle): void
  /** Returns the memory of the plug of the called sensor at a position. */
  memoryOf(row: number, position: number): unknown
  /** Continues calls of the full state, as the task's executor does. */
  serve(handle: RowHandle, mayFail: boolean): void
  /** Begins an actuator call of a row, or returns undefined when the full state must. */
  beginEffect(row: number, slot: number, trigger: number): RowEffect | undefined
  /** Returns what an actuator's call sees of a sensor that was called; undefined when only the full state knows. */
  calledData(row: number, label: string): NodeData | undefined
  /** Moves the kept messages of a row, except an unfinished one, to the task's history. */
  handOver(handle: RowHandle): void
  /** the clock, epoch ms, when the last stamped message or late result arrived */
  readonly lastAt: number
  free(handle: RowHandle): void
  /** Takes a message with sensors that fail now or failed before; returns false when the row cannot. */
  takeUnknown(row: number, message: Message, now: number, known: Known, part: Part): boolean
  /** Lets the full state, which is up to date, take the row's next message. `reattach` or `free` must follow. */
  beginFully(handle: RowHandle, time: number): void
  /** `bits`: of the sensors so far; default: all have returned */
  materializeTo(handle: RowHandle, progress: Progress, bits?: number): Execution | undefined
  /** Returns the deadline of the call for which a row waits, epoch ms; undefined when it does not wait. */
  deadlineOf(handle: RowHandle): number | undefined
  reattach(handle: RowHandle): void
  /** number of finished firings of the current message */
  earlierFirings(handle: RowHandle): number
  /** Returns what is known of the messages before a row's last one. */
  fieldSetsOf(handle: RowHandle): FieldSetHistory
  /** the last message of a row, and its time */
  messageOf(handle: RowHandle): Message
  timeOf(handle: RowHandle): number
}
