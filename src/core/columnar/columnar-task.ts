/** One task of the columnar executor, with its full state and, while it runs as a row, its row. */
import { CallContext, NOTHING_FETCHED } from '../engine/call-context.ts'
import { callPlug, type Outcome } from '../engine/call-plug.ts'
import type { ExecutedRun, ExecutedTask, TaskExecutor } from '../engine/executor.ts'
import type { PlainCounts, PlainReason } from '../engine/stats.ts'
import type { GraphNode, SensorNode } from '../graph/graph.ts'
import { newExecution } from '../task/execution.ts'
import type { Message, Sent } from '../task/origin.ts'
import type { TaskModel, TaskRun } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'
import type { Attachable, Opened, OpenView, BatchTask, RowHandle, TakenSource } from './row-handle.ts'
import type { BatchFit } from './batch-shape.ts'
import type { RowEffect } from './seen-task.ts'

/** State shared by all tasks of an executor. */
export interface Batches {
  readonly plain: PlainCounts
  /** why the current message is processed in full states, if the message itself is the cause */
  readonly reason: PlainReason
  isObserved(): boolean
  /** Returns how a task fits into a row, or undefined when it cannot run as one. */
  fit(model: TaskModel): BatchFit | undefined
  /** Returns whether rows can serve subscribers to these event types, given as bits. */
  canTell(types: number): boolean
  attach(task: BatchTask, fit: BatchFit, message: Message, source: TakenSource): RowHandle | PlainReason
  canReattach(handle: RowHandle, message: Message): boolean
}

export class ColumnarTask implements TaskExecutor, BatchTask, Attachable {
  /** set while the task runs as a row; the full state is then out of date until it is read */
  handle: RowHandle | undefined
  readonly #task: ExecutedTask
  readonly #batches: Batches
  #fit: BatchFit | null | undefined
  #refused: PlainReason | undefined

  constructor(task: ExecutedTask, batches: Batches) {
    this.#task = task
    this.#batches = batches
  }

  get canAttach(): boolean {
    const { lane, types } = this.#task
    if (lane === undefined || !this.#batches.canTell(types)) return false
    this.#fit ??= this.#batches.fit(lane.model) ?? null
    return this.#fit !== null
  }

  get isCalling(): boolean {
    const { lane } = this.#task
    return lane !== undefined && (!lane.state.isFree || hasSensorCalls(lane.state))
  }

  attach(message: Message, source: TakenSource): void {
    const { lane } = this.#task
    if (lane === undefined || !this.#fit) return
    this.#refused = 'open'
    if (this.isCalling) return
    lane.rest()
    const made = this.#batches.attach(this, this.#fit, message, source)
    if (typeof made === 'string') this.#refused = made
    else {
      this.handle = made
      this.#refused = undefined
    }
  }

  tookPlain(messages: readonly Message[], sent: Sent | undefined): void {
    const { plain } = this.#batches
    const { length } = messages
    if (length > 1 || sent !== undefined) plain.sent += length
    else if (this.#batches.isObserved() || !this.#batches.canTell(this.#task.types)) plain.heard += length
    else plain[this.#whyPlain] += length
  }

  get #whyPlain(): PlainReason {
    if (!this.canAttach) return 'shape'
    if (this.deadline !== undefined) return 'open'
    return this.#batches.reason === 'first' ? (this.#refused ?? 'first') : this.#batches.reason
  }

  takeFully(now: number, message: Message, time: number): boolean {
    const { handle } = this
    if (handle === undefined || handle.isAway || this.deadline !== undefined) return false
    this.tookPlain([message], undefined)
    handle.batch.beginFully(handle, time)
    this.#setTime()
    this.#task.takeData(now, message)
    this.done(handle, message)
    return true
  }

  modelChanged(): void {
    this.#fit = undefined
  }

  synchronize(): void {
    const { handle } = this
    // Nothing takes the row back when a call that was opened returns.
    if (this.deadline !== undefined) this.detach()
    else handle?.batch.synchronize(handle)
  }

  get deadline(): number | undefined {
    return this.handle?.batch.deadlineOf(this.handle)
  }

  handOver(): void {
    if (this.handle !== undefined) this.handle.batch.handOver(this.handle)
  }

  detach(): void {
    const { handle } = this
    if (handle === undefined) return
    // Must precede any change of the full state, from which its messages are counted.
    handle.batch.handOver(handle)
    handle.batch.synchronize(handle)
    this.#setTime()
    this.#leave(handle)
  }

  drop(): void {
    if (this.handle !== undefined) this.#leave(this.handle)
  }

  serve(mayFail: boolean): void {
    const { handle } = this
    if (handle === undefined || handle.isAway) return
    if (this.deadline !== undefined) return this.detach()
    handle.batch.serve(handle, mayFail)
  }

  get ahead(): number {
    const { handle } = this
    return handle === undefined || handle.isAway
      ? 0
      : handle.batch.countOf(handle.row) - handle.materializedCount - handle.batch.silentOf(handle.row)
  }

  timed(now: number, at: number): ExecutedRun {
    const run = this.#run
    run.now = Math.max(run.now, now)
    run.at = Math.max(run.at, at)
    return run
  }

  begin({ execution }: RowEffect): void {
    execution.phase = 'called'
    execution.calls = 1
    this.state.inFlight.add(execution)
  }

  viewOf({ execution, seen }: RowEffect): OpenView {
    return new CallContext(seen, execution, this.#task.caller, NOTHING_FETCHED, this.#run)
  }

  ended(execution: Execution): void {
    this.#task.caller.ended(execution)
    this.state.inFlight.delete(execution)
  }

  get model(): TaskModel {
    return this.#run.model
  }

  get state(): TaskState {
    return this.#run.state
  }

  call(execution: Execution): Outcome {
    return this.callAs(this.#run, execution)
  }

  callAs(run: TaskRun, execution: Execution): Outcome {
    // Only comparison plugs are called again, and these return at once.
    return callPlug(run, execution, this.#task.caller) as Outcome
  }

  view(execution: Execution, now: number, at: number): OpenView {
    const run = this.#run
    run.now = now
    run.at = at
    const view = new CallContext(run, execution, this.#task.caller, NOTHING_FETCHED)
    // While the call is open, the task keeps the view alive.
    view.outlasts()
    return view
  }

  over(node: GraphNode, message: Message, time: number): Opened {
    const origin = { kind: 'data' as const, time, resource: message.resource, values: message }
    const execution: Execution = { ...newExecution(node as SensorNode, origin), phase: 'called' }
    const view = new CallContext(this.#run, execution, this.#task.caller, NOTHING_FETCHED)
    view.outlasts()
    return { execution, view }
  }

  wakeAt(at: number, slot: number): void {
    this.#task.wakeAt(at, slot)
  }

  goOn(execution: Execution, result: Outcome | Promise<Outcome> | undefined, now: number, at: number): void {
    this.#task.goOn(execution, result, now, at)
  }

  done(handle: RowHandle, message: Message): void {
    if (this.handle === handle && !this.#batches.canReattach(handle, message)) this.#leave(handle)
  }

  get #run(): ExecutedRun {
    return this.#task.lane as ExecutedRun // a task that has or had a row has run
  }

  #setTime(): void {
    const run = this.#run
    run.now = Math.max(run.now, run.state.time)
  }

  #leave(handle: RowHandle): void {
    handle.batch.free(handle)
    handle.source.changed()
    this.handle = undefined
  }
}

/** Returns whether open calls exist that the next message waits for or replaces. */
export function hasSensorCalls({ open }: Pick<TaskState, 'open'>): boolean {
  for (const { node } of open) if (node.kind === 'sensor') return true
  return false
}
