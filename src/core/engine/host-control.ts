/** Defines the options of a host that stores tasks itself. */
import type { Message } from '../task/origin.ts'
import type { DowntimeInterval } from '../task/saved.ts'
import type { Preparer } from './prepare.ts'
import type { Rule, TaskSettings, Template } from '../rule/rule.ts'

export interface TaskOrigin {
  readonly source: Rule | Template
  readonly settings: TaskSettings
  /** compiles the rule with these plugs instead of the engine's */
  readonly preparer?: Preparer | undefined
}

export interface RestoreOptions {
  /** rule or template of the task, shared by tasks with the same one; the saved rule is then ignored */
  readonly of?: TaskOrigin
  readonly away?: DowntimeInterval
}

export interface BeginOptions {
  readonly id: string
  /** number of the run, which keeps its effect ids unique among all runs */
  readonly run: number
  readonly createTime: number
  readonly resources: readonly string[]
}

export interface ChangeOptions {
  readonly id: string
  readonly resources: readonly string[]
}

export interface KeptMessages {
  position: number
  /** messages that the engine is receiving; undefined: the host does not store them */
  messages: Message | readonly Message[] | undefined
}
