/** Questions that the rules services of two partitions of a tenant ask each other. */
import type { Caller } from '#kernel'
import type { TaskAction } from '../batches/batch-schema.ts'
import type { ShowOptions } from '../tasks/task-schema.ts'

/** Serializes to JSON, which drops undefined fields. */
export type RulesQuestion =
  | {
      readonly ask: 'api'
      readonly caller: Caller
      readonly api: 'tasks' | 'batches' | 'inspection' | 'tools' | 'rehearsals' | 'rollouts'
      readonly method: string
      readonly args: readonly unknown[]
    }
  | {
      readonly ask: 'act'
      readonly id: string
      readonly action: TaskAction
      readonly batch: string
      readonly isRepeat: boolean
    }
  /** asks for tasks in the form of a listing; deleted tasks are left out */
  | {
      readonly ask: 'shown'
      readonly ids: readonly string[]
      readonly options: ShowOptions
      readonly withoutGraph: boolean
    }
  | { readonly ask: 'preview'; readonly id: string; readonly action: TaskAction }
  | { readonly ask: 'deleteInputs'; readonly resource: string }
  /** `ensure`, `drop`: the shadows of tasks of that partition; `drive`: continue the roll-out there */
  | { readonly ask: 'rollout'; readonly id: string; readonly work: 'ensure' | 'drop' | 'drive' }
  | { readonly ask: 'rebind'; readonly resource: string }
