/**
 * Connects an engine to a host that keeps tasks across restarts. The engine reports which tasks changed, and the host
 * decides when results of asynchronous plugs are used: the engine passes such results to the journal, and the host
 * returns them through `LiveTask.settle` when they are durable.
 *
 * Messages to rows are not reported, since the caller of `receive` knows which tasks they reach.
 */
import type { Outcome } from './call-plug.ts'
import type { Rendered } from './render-call.ts'
import type { Execution, TaskStatus } from '../task/state.ts'

/** The reply to a call: its result, or earlier the properties of an acting call. */
export type Reply = Outcome | Rendered

export interface JournaledTask {
  readonly id: string
  readonly status: TaskStatus
}

export interface Journal {
  /** Called after an input that the task processed on its full state. */
  touched(task: JournaledTask): void
  /**
   * False: the plug is not called; its result comes through `settle`, or it is called again after a restore. Absent:
   * all calls are allowed, and tasks may be rows, which call without asking.
   */
  mayCall?(task: JournaledTask, execution: Execution): boolean
  /** Called when the plug returned a promise, or was not called. */
  opened(task: JournaledTask, execution: Execution): void
  /**
   * Called when the task still waits for that call, and its plug returned a result or its properties were created.
   * `call`: number of the call within its execution.
   */
  answered(task: JournaledTask, execution: Execution, call: number, reply: Reply): void
  /**
   * Like `answered`, for a call made ahead of its turn. `input`: number of the waiting input; `node`: label of the
   * sensor.
   */
  answeredAhead(task: JournaledTask, input: number, node: string, outcome: Outcome): void
  /** Called when an acting call waits for earlier calls on the same thing. */
  waits(task: JournaledTask, execution: Execution): void
  /**
   * Called before the task uses the outcome of a queued call: its synchronous result, or the error that it was dropped.
   */
  gave(task: JournaledTask, execution: Execution, outcome: Outcome): void
}
