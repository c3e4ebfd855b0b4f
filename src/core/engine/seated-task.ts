/** A live task as the quiet lanes see it, from when it sits down until it rises. */
import type { ActuatorNode, SensorNode } from '../graph/graph.ts'
import type { Opened, OpenView, QuietTask, Seat } from '../quiet/seat.ts'
import { newExecution } from '../task/execution.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel, TaskRun } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'
import { CallContext, NOTHING_FETCHED } from './call-context.ts'
import { callPlug, type Caller, type Outcome } from './call-plug.ts'

interface Live {
  goOn(execution: Execution, given: Outcome | Promise<Outcome>, now: number, at: number): void
  askForLimit(at: number, slot: number): void
  rise(): void
  openedAndDone(seat: Seat, message: Message): void
}

export class SeatedTask implements QuietTask {
  readonly #live: Live
  readonly #run: TaskRun
  readonly #caller: Caller

  constructor(live: Live, run: TaskRun, caller: Caller) {
    this.#live = live
    this.#run = run
    this.#caller = caller
  }

  get model(): TaskModel {
    return this.#run.model
  }

  get state(): TaskState {
    return this.#run.state
  }

  call(execution: Execution): Outcome {
    // Only comparisons are called again, and those answer at once.
    return callPlug(this.#run, execution, this.#caller) as Outcome
  }

  view(execution: Execution, now: number): OpenView {
    this.#run.now = now
    this.#run.at = now
    return new CallContext(this.#run, execution, this.#caller, NOTHING_FETCHED)
  }

  over(node: SensorNode | ActuatorNode, message: Message, time: number): Opened {
    const { resource } = message
    const origin = { kind: 'data' as const, time, resource, values: message }
    const execution: Execution = { ...newExecution(node, origin), phase: 'called' }
    return { execution, view: new CallContext(this.#run, execution, this.#caller, NOTHING_FETCHED) }
  }

  askForLimit(at: number, slot: number): void {
    this.#live.askForLimit(at, slot)
  }

  rise(): void {
    this.#live.rise()
  }

  goOn(execution: Execution, given: Outcome | Promise<Outcome>, now: number, at: number): void {
    this.#live.goOn(execution, given, now, at)
  }

  done(seat: Seat, message: Message): void {
    this.#live.openedAndDone(seat, message)
  }
}
