/** Describes what happens to a task from outside as timed steps, for both the model and the engine. */
export interface ScriptMessage {
  resource: string
  [key: string]: unknown
}

export type ScriptInput =
  | { kind: 'wait' }
  | { kind: 'data'; messages: readonly ScriptMessage[] }
  | { kind: 'push'; node: string; state?: string; rawData?: Record<string, unknown> }
  | { kind: 'run'; node: string }
  | { kind: 'resume'; node: string }
  /** the promise of an asynchronous plug settles: with a state, or by rejecting */
  | { kind: 'settle'; node: string; state?: string }
  | { kind: 'stop' }
  | { kind: 'start' }

export interface ScriptStep {
  /** ms since the task was started; never smaller than in the step before */
  at: number
  input: ScriptInput
}

export type Script = readonly ScriptStep[]

/** Epoch ms at which every scripted task starts: a whole minute. */
export const SCRIPT_START = 1_700_000_040_000

/** Id of every scripted task. */
export const TASK_ID = 'task-1'
