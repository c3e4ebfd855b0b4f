/** What a host that stores tasks itself passes to the engine: the origin of a task, and the number of a run. */
import type { Message } from '../task/origin.ts'
import type { DowntimeInterval } from '../task/saved.ts'
import type { Rule, TaskSettings, Template } from '../rule/rule.ts'

export interface TaskOrigin {
  readonly source: Rule | Template
  readonly settings: TaskSettings
}

export interface RestoreOptions {
  /** the source of the task, shared by tasks with the same one; the saved rule is then ignored */
  readonly of?: TaskOrigin
  readonly away?: DowntimeInterval
}

export interface BeginOptions {
  readonly id: string
  /** number of the run, which distinguishes its effect ids from those of every other run */
  readonly run: number
  readonly createTime: number
  /** the resolved resource of every resource text in the graph */
  readonly resources: readonly string[]
}

export interface ChangeOptions {
  readonly id: string
  readonly resources: readonly string[]
}

/** Where a host keeps its messages, which then need not be saved with tasks for which they wait. */
export interface KeptMessages {
  position: number
  /** undefined: the present ones are not kept */
  messages: Message | readonly Message[] | undefined
}
