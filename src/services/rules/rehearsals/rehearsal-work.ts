/** The work of a rehearsal for one thread, as plain data. */
import type { Message, Rule, TaskSettings, Template } from '#core'
import type { EngineLimits } from '../durable/deterministic-engine.ts'
import type { Input } from '../durable/input.ts'
import type { RunnableTask } from '../runner.ts'

export interface RehearsedRule {
  readonly document: Rule | Template
  readonly settings: TaskSettings
}

export interface RehearsalWork {
  readonly rule: RehearsedRule
  readonly compareWith: RehearsedRule | undefined
  readonly variants: readonly RehearsedRule[]
  /** the resource of each task to rehearse; undefined for a rule that names its resources itself */
  readonly resources: readonly (string | undefined)[]
  /** absent: messages come from stored series */
  readonly messages: readonly Message[] | undefined
  /** epoch ms, both inclusive */
  readonly from: number
  readonly until: number
  readonly seed: number
  readonly calls: 'none' | 'recorded' | 'live'
  readonly order: 'lived' | 'time' | undefined
  readonly initialState: 'cold' | 'warm'
  /** the stored task that is rehearsed */
  readonly live: LiveRun | undefined
  /** an input of the live task that differs here */
  readonly edit: InputEdit | undefined
  /** settings of the host's tasks, if inputs are kept */
  readonly limits: EngineLimits
  readonly eventTypes: readonly string[]
  /** maximum length of each list; the earliest items are kept */
  readonly most: number
  readonly mostEvents: number
}

/** undefined input: it is left out */
export interface InputEdit {
  readonly position: number
  readonly input: Input | undefined
}

export interface LiveRun {
  readonly task: RunnableTask
  /** kinds of its calls that are asynchronous */
  readonly later: readonly string[]
}
