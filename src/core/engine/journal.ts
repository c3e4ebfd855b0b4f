/**
 * Connects an engine to a host that keeps tasks across restarts; messages to rows are not reported to it. Results of
 * asynchronous plugs return through `LiveTask.settle` when they are durable.
 */
import type { Outcome } from './call-plug.ts'
import type { Rendered } from './render-call.ts'
import type { Execution, TaskStatus } from '../task/state.ts'

export type Reply = Outcome | Rendered

export interface JournaledTask {
  readonly id: string
  readonly status: TaskStatus
}

export interface Journal {
  touched(task: JournaledTask): void
  /** False: the plug is not called, its result comes through `settle`. Absent: all calls are allowed. */
  mayCall?(task: JournaledTask, execution: Execution): boolean
  opened(task: JournaledTask, execution: Execution): void
  /** Called when a plug returned a result, or properties were created. `call`: number within the execution. */
  answered(task: JournaledTask, execution: Execution, call: number, reply: Reply): void
  /** Like `answered`, for a call made ahead of its turn. `input`: number of the waiting input. */
  answeredAhead(task: JournaledTask, input: number, node: string, outcome: Outcome): void
  waits(task: JournaledTask, execution: Execution): void
  /** Called before the task uses the outcome of a queued call. */
  gave(task: JournaledTask, execution: Execution, outcome: Outcome): void
}
