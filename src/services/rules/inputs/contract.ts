/**
 * Kept inputs: what the tasks of a tenant received recently, in the order of the log, and checkpoints from which a
 * replay can start. Live tasks do not depend on kept inputs, which serve to rehearse rules and to look at past
 * instants.
 *
 * INPUTS-1 a range returns each input of the log once, in log order, without gaps after `since()`
 * INPUTS-2 an entry is removed from the log only after it is in kept inputs
 * INPUTS-3 a damaged block is reported by name and read as a gap; other data is unaffected
 */
import type { EngineLimits, TaskStateRecord } from '../durable/deterministic-engine.ts'
import type { Input } from '../durable/input.ts'
import type { RunnableTask } from '../runner.ts'
import type { Manifest } from './manifest.ts'

/** A log entry as tasks received it. */
export interface KeptInput {
  readonly position: number
  readonly input: Input
}

/** Selects inputs that satisfy all limits. */
export interface InputRange {
  /** epoch ms of readings (a message's `timestamp`, or its arrival if it has none), both inclusive */
  readonly from?: number
  readonly until?: number
  /** log position, exclusive */
  readonly after?: number
  /** log position, inclusive */
  readonly upTo?: number
  /** absent: all resources. An array keeps only the messages of these resources, and its `u` is adapted */
  readonly resources?: readonly string[]
  /**
   * selects, in addition to messages, inputs of these tasks and of all tasks (open, jump, still, trim, later, resume)
   */
  readonly tasks?: readonly string[]
}

/** The state of a task after the input at `position` and all its consequences up to `at` (epoch ms of arrival). */
export interface InputCheckpoint {
  readonly position: number
  readonly at: number
  readonly task: RunnableTask
  readonly record: TaskStateRecord
}

export interface KeptSince {
  /** the first log position that is kept */
  readonly position: number
  /** epoch ms at which that entry arrived */
  readonly at: number
}

export interface KeptInputs {
  readonly source: KeptSource
  /** Returns where complete inputs begin; undefined if none are kept. */
  since(): Promise<KeptSince | undefined>
  /** Yields batches in log order, including entries that are still only in the log. */
  read(range: InputRange, signal?: AbortSignal): AsyncIterable<readonly KeptInput[]>
  /** Returns the last checkpoint of a task whose arrival, or position, is at most `before`. */
  checkpoint(
    task: string,
    before: { readonly at: number } | { readonly position: number },
  ): Promise<InputCheckpoint | undefined>
}

/** What a reader of kept inputs reads, in this thread or from another. */
export interface KeptSource {
  /** Keeps the content of segments until `close`. */
  open(): Promise<void>
  close(): Promise<void>
  view(): Promise<KeptView>
  /** Returns a part of a segment, `until` excluded; undefined if the content is missing. */
  bytes(id: string, from: number, until: number): Promise<Uint8Array | undefined>
  /** Returns entries that are still only in the log. */
  logged(after: number, limit: number): Promise<LoggedInputs>
  report(text: string): Promise<void>
}

export interface KeptView {
  readonly manifest: Manifest
  /** the last position of the log */
  readonly position: number
  /** epoch ms */
  readonly now: number
}

/** `first` and `last`: positions of the entries, including entries that are not kept; undefined: no entries. */
export interface LoggedInputs {
  readonly inputs: readonly KeptInput[]
  readonly first: number | undefined
  readonly last: number | undefined
}

/** What rules need to run over kept inputs as the tasks ran. */
export interface KeptPast {
  readonly inputs: KeptInputs
  readonly limits: EngineLimits
  /** Returns the kinds of calls that are asynchronous. */
  later(): Promise<readonly string[]>
}
