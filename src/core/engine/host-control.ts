/** What a host hands in that stores tasks itself: what a task is made of, and which run of it begins. */
import type { Message } from '../task/origin.ts'
import type { DowntimeInterval } from '../task/saved.ts'
import type { Rule, TaskSettings, Template } from '../rule/rule.ts'

export interface TaskOrigin {
  readonly source: Rule | Template
  readonly settings: TaskSettings
}

export interface RestoreOptions {
  /** what the task was made of, shared by those made of the same; then the saved rule is not looked at */
  readonly of?: TaskOrigin
  readonly away?: DowntimeInterval
}

export interface BeginOptions {
  readonly id: string
  /** number of the run: with it the ids of effects differ from those of every other run */
  readonly run: number
  /** epoch ms */
  readonly createTime: number
  /** the resolved resource of every resource text in the graph */
  readonly resources: readonly string[]
}

export interface ChangeOptions {
  readonly id: string
  /** of the new rule, as in `BeginOptions` */
  readonly resources: readonly string[]
}

/** Where a host keeps the messages that it hands in: then they need not be saved with tasks for which they wait. */
export interface KeptMessages {
  /** the host's number for them */
  position: number
  /** undefined: it keeps none of those that come now */
  messages: Message | readonly Message[] | undefined
}
