/**
 * What an engine reports to a host that keeps tasks over restarts, and what the host decides: which tasks changed, and
 * when the answer of an asynchronous plug is taken. With a journal, the engine passes such answers to it instead of
 * taking them; the host returns them through `LiveTask.settle` when they are durable.
 *
 * Messages to rows are not reported: the caller of `receive` knows whom they reach.
 */
import type { Outcome } from './call-plug.ts'
import type { Rendered } from './render-call.ts'
import type { Execution, TaskStatus } from '../task/state.ts'

/** The reply to a call: its answer, or before it the properties of an acting call. */
export type Reply = Outcome | Rendered

export interface JournaledTask {
  readonly id: string
  readonly status: TaskStatus
}

export interface Journal {
  /** After an input that the task took on its full state. */
  touched(task: JournaledTask): void
  /**
   * False: the plug is not called; its answer comes through `settle`, or it is called again after a restore. Absent:
   * all are called, and tasks may be rows, which call without a permission.
   */
  mayCall?(task: JournaledTask, execution: Execution): boolean
  /** The plug did not answer at once, or was not called. */
  opened(task: JournaledTask, execution: Execution): void
  /** The plug answered the call of that number, or its properties were created, and the task still waits for it. */
  answered(task: JournaledTask, execution: Execution, call: number, reply: Reply): void
  /** Like `answered`, for a call ahead: of an input by number, to a sensor. */
  answeredAhead(task: JournaledTask, input: number, node: string, outcome: Outcome): void
  /** An acting call waits for earlier ones on the same thing. */
  waits(task: JournaledTask, execution: Execution): void
  /** Before the task takes the outcome of a queued call: its synchronous answer, or the error that it was dropped. */
  gave(task: JournaledTask, execution: Execution, outcome: Outcome): void
}
