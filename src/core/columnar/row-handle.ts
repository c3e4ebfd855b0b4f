/** The handle that ties a task to its row in a batch, and what the two ask of each other. */
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

/** The messages of a resource, as far as its rows may ask for them: the last one and the one before. */
export interface TakenSource {
  /** how many messages it took while there was a handle */
  readonly total: number
  /** What is known of the messages before one of the last two, by number. */
  fieldSetsAt(index: number): FieldSetHistory
  /** Rows or listeners have changed. */
  changed(): void
  messageOf(total: number): Message
  /** Epoch ms of the clock when it came, of a stamped one of those two. */
  arrivalOf(total: number): number
}

/** A listener's way into rows. */
export interface Attachable {
  readonly handle: RowHandle | undefined
  /** whether it may ever attach */
  readonly canAttach: boolean
  /** whether calls of its full state are open */
  readonly isCalling: boolean
  /** Becomes a row when nothing is open after a message, the last that it took. */
  attach(message: Message, source: TakenSource): void
  /** Takes a message on its full state, after which its row goes on when it can. False when it has none, or waits. */
  takeFully(now: number, message: Message, time: number): boolean
  /** Releases its handle; the full state is up to date then. */
  detach(): void
}

/** What a batch needs of a task that runs. */
export interface BatchTask {
  readonly model: TaskModel
  readonly state: TaskState
  /** Calls a sensor's plug whose call changes nothing. */
  call(execution: Execution): Outcome
  /** The same with another state than its own. */
  callAs(run: TaskRun, execution: Execution): Outcome
  /** A plug's own view of a call that is open in the full state. `now`: its message's time; `at`: the clock's. */
  view(execution: Execution, now: number, at: number): OpenView
  /** The full state with the time of a message that the row takes, epoch ms. `at`: the clock's. */
  timed(now: number, at: number): TaskRun
  /** A call that acts has begun in the row: it is in flight from then on. */
  begin(effect: RowEffect): void
  /** A plug's view of it. */
  viewOf(effect: RowEffect): OpenView
  /** The call is over, and the row has what it gave. */
  ended(execution: Execution): void
  /** Releases the handle; the full state is up to date then. */
  detach(): void
  /** As that of the executed task. */
  goOn(execution: Execution, result: Outcome | Promise<Outcome> | undefined, now: number, at: number): void
  /** What followed is done as far as possible: the handle is kept or given up. */
  done(handle: RowHandle, message: Message): void
}

export interface RowHandle {
  readonly batch: Batch
  readonly row: number
  readonly task: BatchTask
  readonly fit: BatchFit
  readonly source: TakenSource
  /** how many messages its source had taken when the row had taken none */
  offset: number
  /** count of the row's messages that the full state has seen */
  materializedCount: number
  /** the full state is ahead of the row: a call is open in it, or it takes a message */
  isAway: boolean
  /** the last messages that its row took by itself though sensors failed; undefined: none that still counts */
  unknown: UnknownMessages | undefined
  /** calls that act have gone on in the full state, where all that actuators gave stands since */
  acts: boolean
  /** counts of messages that failed since the last synchronization, without messages that ran no sensor */
  failed: number[]
}

/** The view of a call that is open in the state machine. */
export type OpenView = PlugContext & Scope & { freeze(): void; outlasts(): void }

/** A call that was opened in the state machine. */
export interface Opened {
  readonly execution: Execution
  readonly view: OpenView
}

/** The batch that a handle is in. */
export interface Batch {
  readonly shape: BatchShape
  /** whether all messages of its rows are stamped, each later than the one before; else none is stamped */
  readonly isStamped: boolean
  /** undefined: without a subscriber to all events of messages */
  readonly records: object | undefined
  /** undefined: what happened in tasks is not kept */
  readonly history: object | undefined
  /** Passes to the history the events so far of a row's current message; an event beside the row follows. */
  emitSoFar(row: number): void
  /** messages that went on in the state machine */
  opened: number
  /** messages that rows took */
  taken: number
  /** by row, of rows that take their next message by `takeUnknown` */
  readonly oddGates: ReadonlyMap<number, unknown>
  /** messages that many rows took in one pass */
  vectorized: number
  /** The batch as an indexed row sees it whose last message has these fields. */
  indexed(fields: Fields): IndexedBatch
  /** Which sensors a message with these fields runs; null when rows do not take it. */
  partOf(fields: Fields): Part | null
  /** Takes a message into a list of rows, from a place on; returns the first place that only the state machine can do. */
  receiveAll(list: readonly number[], from: number, message: Message, part: Part, isFirst: boolean): number
  /** A message is at hand that a list of rows takes, or it is not any more. */
  begin(fieldSets: FieldSetHistory): void
  end(): void
  /** A vectorized of rows whose last message was `last`, and which go on together; undefined when they cannot. */
  vectorize(rows: readonly number[], last: Message, fieldSets: FieldSetHistory): VectorizedBatch | undefined
  /** Its rows go on by themselves. */
  flush(vectorized: VectorizedBatch): void
  /** messages of a row so far */
  countOf(row: number): number
  /** messages since the last synchronization that did not begin an invocation */
  silentOf(row: number): number
  /** The one that has a row, or had it. */
  handleAt(row: number): RowHandle
  synchronize(handle: RowHandle): void
  /** Calls of the full state go on; as that of the task's executor. */
  serve(handle: RowHandle, mayFail: boolean): void
  /** Begins the call of an actuator of a row; undefined when the full state has to. */
  beginEffect(row: number, slot: number, trigger: number): RowEffect | undefined
  /** Hands over what is kept of a row's messages, to the history of its task; not of one that it is in the midst of. */
  handOver(handle: RowHandle): void
  /** epoch ms of the clock when a stamped message or a late answer was taken last */
  readonly lastAt: number
  free(handle: RowHandle): void
  /** Takes a message in which sensors fail, or did before, into a row; false when it cannot. */
  takeUnknown(row: number, message: Message, now: number, known: Known, part: Part): boolean
  /** The full state, which is up to date then, takes the next message in the row's place: `reattach` or `free` follows. */
  beginFully(handle: RowHandle, time: number): void
  materializeTo(handle: RowHandle, progress: Progress): Execution | undefined
  reattach(handle: RowHandle): void
  /** firings of the message under way, before the one under way */
  earlierFirings(handle: RowHandle): number
  /** What is known of the messages before a row's last one. */
  fieldSetsOf(handle: RowHandle): FieldSetHistory
  /** the last message of a row, and when it came */
  messageOf(handle: RowHandle): Message
  timeOf(handle: RowHandle): number
}
