/**
 * Kept inputs: what the tasks of a tenant took lately, in the order of the log, and checkpoints to start a replay from.
 * Live tasks do not depend on them: they are read to rehearse rules and to look at an instant that has passed.
 *
 * INPUTS-1 a range is answered as the log had it: each input once, in log order, without gaps above `since()`
 * INPUTS-2 an entry leaves the log only after kept inputs have it
 * INPUTS-3 a damaged block is reported by name and reads as a gap; nothing else depends on it
 */
import type { TaskStateRecord } from '../durable/deterministic-engine.ts'
import type { Input } from '../durable/input.ts'
import type { RunnableTask } from '../runner.ts'

/** An entry of the log as tasks took it. */
export interface KeptInput {
  readonly position: number
  readonly input: Input
}

/** All limits apply together. */
export interface InputRange {
  /** epoch ms of the reading (`timestamp` of a message, arrival without one), both inclusive */
  readonly from?: number
  readonly until?: number
  /** positions of the log, exclusive */
  readonly after?: number
  /** inclusive */
  readonly upTo?: number
  /** absent: all resources. Of an array, the messages of these resources remain, with `u` adapted */
  readonly resources?: readonly string[]
  /** besides messages: inputs of these tasks, and inputs of all tasks (open, jump, still, trim, later, resume) */
  readonly tasks?: readonly string[]
}

/** A task as it was after the input at `position` and all that followed from it up to `at` (epoch ms of arrival). */
export interface InputCheckpoint {
  readonly position: number
  readonly at: number
  readonly task: RunnableTask
  readonly record: TaskStateRecord
}

export interface KeptSince {
  /** the first position that is kept */
  readonly position: number
  /** epoch ms of its arrival */
  readonly at: number
}

export interface KeptInputs {
  /** Where complete inputs begin; undefined: none are kept. */
  since(): Promise<KeptSince | undefined>
  /** Batches in log order, including entries that only the log has so far. */
  read(range: InputRange, signal?: AbortSignal): AsyncIterable<readonly KeptInput[]>
  /** The last checkpoint of a task whose arrival, or position, is at most `before`. */
  checkpoint(
    task: string,
    before: { readonly at: number } | { readonly position: number },
  ): Promise<InputCheckpoint | undefined>
}
