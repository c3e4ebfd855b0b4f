/**
 * What a host that keeps tasks over restarts hears of its engine, and decides: which tasks have changed, and when the
 * answer of a plug that did not answer at once is taken. With a journal the engine hands such answers to it instead of
 * taking them; the host gives them back through `LiveTask.settle` when they are durable.
 *
 * Not in here: messages to tasks that are rows. Who hands in a message knows whom it reaches.
 */
import type { Outcome } from './call-plug.ts'
import type { Rendered } from './render-call.ts'
import type { Execution, TaskStatus } from '../task/state.ts'

/** What comes back for a call: its answer, or before that the properties of one that acts. */
export type Reply = Outcome | Rendered

export interface JournaledTask {
  readonly id: string
  readonly status: TaskStatus
}

export interface Journal {
  /** After an input that the task took the full way. */
  touched(task: JournaledTask): void
  /**
   * False: the plug is not called; its answer comes through `settle`, or after a restore it is called anew. Absent: all
   * are called, and tasks may be rows, which call without asking.
   */
  mayCall?(task: JournaledTask, execution: Execution): boolean
  /** The plug has not answered at once, or was not called. */
  opened(task: JournaledTask, execution: Execution): void
  /** The plug has answered the call of that number, or its properties were made, and somebody still waits for it. */
  answered(task: JournaledTask, execution: Execution, call: number, reply: Reply): void
  /** As `answered`, for a call that began before its turn: of the input of that number, to that sensor. */
  answeredAhead(task: JournaledTask, input: number, node: string, outcome: Outcome): void
  /** A call that acts waits for earlier ones on the same thing. */
  waits(task: JournaledTask, execution: Execution): void
  /** A call that has its place answered at once, or was dropped before its turn, which is its error. Before the task takes it. */
  gave(task: JournaledTask, execution: Execution, outcome: Outcome): void
}
