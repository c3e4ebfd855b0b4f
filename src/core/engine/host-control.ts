/** What a host hands in that stores tasks itself: what a task is made of, and which run of it begins. */
import type { Rule, TaskSettings, Template } from '../rule/rule.ts'

export interface TaskOrigin {
  readonly source: Rule | Template
  readonly settings: TaskSettings
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
