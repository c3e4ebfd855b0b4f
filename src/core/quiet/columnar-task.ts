/** One task of the columnar executor: its full state, and its row while it has one. */
import { CallContext, NOTHING_FETCHED } from '../engine/call-context.ts'
import { callPlug, type Outcome } from '../engine/call-plug.ts'
import type { ExecutedRun, ExecutedTask, TaskExecutor } from '../engine/executor.ts'
import type { ActuatorNode, SensorNode } from '../graph/graph.ts'
import { newExecution } from '../task/execution.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'
import type { Attachable, Opened, OpenView, QuietTask, Seat, TakenSource } from './seat.ts'
import type { QuietFit } from './shape.ts'

/** What the tasks of an executor share. */
export interface Batches {
  /** How a task can run as a row; undefined when it cannot. */
  fit(model: TaskModel): QuietFit | undefined
  sit(task: QuietTask, fit: QuietFit, message: Message, source: TakenSource): Seat | undefined
  canComeBack(seat: Seat, message: Message): boolean
}

export class ColumnarTask implements TaskExecutor, QuietTask, Attachable {
  /** its row; then the full state is behind until somebody looks */
  seat: Seat | undefined
  readonly #task: ExecutedTask
  readonly #batches: Batches
  #fit: QuietFit | null | undefined

  constructor(task: ExecutedTask, batches: Batches) {
    this.#task = task
    this.#batches = batches
  }

  get canSit(): boolean {
    const { lane, isWatched } = this.#task
    if (lane === undefined || isWatched) return false
    this.#fit ??= this.#batches.fit(lane.model) ?? null
    return this.#fit !== null
  }

  sitDown(message: Message, source: TakenSource): void {
    const { lane } = this.#task
    if (lane === undefined || !this.#fit || !lane.state.isFree || lane.state.inFlight.size > 0) return
    lane.rest()
    this.seat = this.#batches.sit(this, this.#fit, message, source)
  }

  modelChanged(): void {
    this.#fit = undefined
  }

  synchronize(): void {
    const { seat } = this
    if (seat === undefined) return
    if (seat.lane.isWaiting(seat)) this.detach()
    else seat.lane.rebuild(seat)
  }

  detach(): void {
    const { seat } = this
    if (seat === undefined) return
    seat.lane.rebuild(seat)
    this.#leave(seat)
  }

  drop(): void {
    if (this.seat !== undefined) this.#leave(this.seat)
  }

  get hasOpenCall(): boolean {
    return this.seat?.lane.isWaiting(this.seat) === true
  }

  limitOf(slot: number): number | undefined {
    const { seat } = this
    // What sits has nothing else to wake for.
    return seat?.isAway === false ? seat.lane.limitOf(seat, slot) : undefined
  }

  get model(): TaskModel {
    return this.#run.model
  }

  get state(): TaskState {
    return this.#run.state
  }

  call(execution: Execution): Outcome {
    // Only comparisons are called again, and those answer at once.
    return callPlug(this.#run, execution, this.#task.caller) as Outcome
  }

  view(execution: Execution, now: number): OpenView {
    const run = this.#run
    run.now = now
    run.at = now
    return new CallContext(run, execution, this.#task.caller, NOTHING_FETCHED)
  }

  over(node: SensorNode | ActuatorNode, message: Message, time: number): Opened {
    const { resource } = message
    const origin = { kind: 'data' as const, time, resource, values: message }
    const execution: Execution = { ...newExecution(node, origin), phase: 'called' }
    return { execution, view: new CallContext(this.#run, execution, this.#task.caller, NOTHING_FETCHED) }
  }

  askForLimit(at: number, slot: number): void {
    this.#task.askForLimit(at, slot)
  }

  goOn(execution: Execution, given: Outcome | Promise<Outcome>, now: number, at: number): void {
    this.#task.goOn(execution, given, now, at)
  }

  done(seat: Seat, message: Message): void {
    if (this.seat === seat && !this.#batches.canComeBack(seat, message)) this.#leave(seat)
  }

  get #run(): ExecutedRun {
    return this.#task.lane as ExecutedRun // a task that has or had a row has run
  }

  #leave(seat: Seat): void {
    seat.lane.free(seat)
    seat.source.changed()
    this.seat = undefined
  }
}
