/** What the library gives: an engine of many tasks, and a handle for each. */
import type { Observable, SchedulerLike } from 'rxjs'
import type { Plug } from '../plug/plug.ts'
import type { Ports } from '../ports.ts'
import type { Logger } from '#kernel'
import type { Generate } from './executor.ts'
import type { Rule, TaskSettings, TaskType, Template } from '../rule/rule.ts'
import type { Explanation } from '../task/explain.ts'
import type { Message, Sent } from '../task/origin.ts'
import type { Lost } from '../task/lost.ts'
import type { DowntimeInterval, SavedState } from '../task/saved.ts'
import type { Execution, TaskStatus } from '../task/state.ts'
import type { EventBatch } from './event-batch.ts'
import type { EventFilter } from './event-filter.ts'
import type { HistoryOptions, TaskHistory } from './event-history.ts'
import type { EngineEvent, FiredEvent, RareEvent } from './events.ts'
import type { Journal } from './journal.ts'
import type { EngineStats } from './stats.ts'

export interface EngineOptions {
  /** the plugs that rules may name */
  readonly plugs: readonly Plug[]
  /** default false; true: `start` and `update` refuse a rule that gives a plug a property which the plug does not declare */
  readonly strict?: boolean
  /** where time comes from, asked for each message; every timer of the engine waits on it */
  readonly scheduler: SchedulerLike
  /** ms after which the scheduler's time is looked at again while something waits, so that a clock put forward is noticed; default 24 days */
  readonly recheckMs?: number
  /** least ms between two wake-ups by timers: a lone one is on time, many act in batches, each at most this late; default 0 */
  readonly restMs?: number
  /** ids of tasks that are started without one */
  readonly ids: () => string
  /** first number of all randomness that plugs see */
  readonly seed: number
  /** what the engine asks of the outside: metadata, secrets, last values; default: nothing is known there */
  readonly ports?: Ports
  /** told what nobody else would hear of, such as a subscriber that throws; default: nobody */
  readonly logger?: Logger
  /** handed to every plug as `globalSettings` */
  readonly globalSettings?: Readonly<Record<string, unknown>>
  /** default true: `fired` events carry their why */
  readonly why?: boolean
  /** default true; false: no `tick`, `data`, `state` and `gate`, and no `result` without an error, for who only counts */
  readonly detail?: boolean
  /**
   * told of what is rare and worth keeping, whether or not somebody listens: starts, ends, failures, lines of the log, and results with an error
   */
  readonly onRare?: (event: RareEvent) => void
  /**
   * default: nothing is kept; keeps the last events of each task, for `Engine.history`, whether or not somebody listens.
   * Tasks stay rows, whose events are made when they are asked for. `VALIDATION` when it keeps nothing
   */
  readonly history?: HistoryOptions
  /** called when a plug did not answer at once; what it gives is called when the answer is there, wanted or not */
  readonly timed?: () => () => void
  /** makes a function of source text that the engine wrote; absent where code may not be generated, at a cost of speed */
  readonly generate?: Generate
  /** of a simulation: ms by which the answer of each call of a plug is held back */
  readonly latency?: (execution: Execution) => number
  /** of a simulation: a run of a schedule at the very instant at which its task starts is its first; default false */
  readonly runsAtStart?: boolean
  /** of a host that keeps tasks over restarts */
  readonly journal?: Journal
  /** ms that values of a message stay in reach of later executions; default 60,000 */
  readonly streamValidity?: number
  /**
   * inputs that may wait while a task is at work on an earlier one, and calls of actuators that may wait for earlier
   * ones; default 1,000 each. When more come, the oldest message or call that waits is dropped, counted, and said in the log
   */
  readonly maxWaiting?: number
  /** keys of messages, such as `receivedAt`, that do not count when a message is compared with one that was taken */
  readonly identityIgnores?: readonly string[]
  /** of tasks whose rule does not set it: whether a message that was taken is taken again; default `drop` */
  readonly duplicates?: 'drop' | 'take'
  /** ms for which tasks that take late readings know the last 1,000 of a resource again; default 600,000 */
  readonly dedupWindow?: number
  /** readings, of 16 bytes each, that all of them know again: beyond, the oldest are forgotten and counted; default 4,194,304 */
  readonly maxRemembered?: number
  /** tasks whose full state is at hand, default 10,000: of others that have heard messages it is packed until it is needed */
  readonly fullStates?: number
}

export interface Engine {
  /**
   * Starts a rule or template with task settings, or a stopped task by its id. Rejects with `VALIDATION` (all
   * problems at once) or `RESOLUTION`; then there is no task, or the old one is `failed`.
   */
  start(rule: Rule | Template | string, settings?: StartSettings): Promise<Task>
  /** Stops a running task and drops its work in flight. `WRONG_STATUS` when it does not run. */
  stop(id: string): Promise<Task>
  /**
   * Replaces a task's rule; it runs when it ran before, unless the settings say otherwise. One that runs goes on: as
   * `change`.
   */
  update(id: string, rule: Rule | Template, settings?: TaskSettings): Promise<Task>
  /**
   * Replaces the rule of a running task, which goes on: sensors and actuators that the change does not touch keep their
   * states, windows, cool-downs, timers and calls, and nothing waits for calls that are open. A node is touched when
   * anything of it changed but its position, description and icon: its plug or properties, a variable that they read, its
   * resource, its times. Touched nodes begin anew, relations are decided again, and nothing fires. Rejects with
   * `VALIDATION`, `RESOLUTION`, `NOT_FOUND` and `WRONG_STATUS`; then the task goes on with its old rule.
   */
  change(id: string, rule: Rule | Template, settings?: TaskSettings): Promise<Changed>
  /** What nodes would lose by that `change` now. Rejects as it does, and changes nothing. */
  whatChanges(id: string, rule: Rule | Template, settings?: TaskSettings): Promise<readonly Lost[]>
  /** Forgets a task. `WRONG_STATUS` while it runs, unless forced. */
  remove(id: string, options?: { force?: boolean }): Promise<void>
  /**
   * Resumes a saved task: timers, cool-downs and work in flight included. `away`: when the host was down, to which waits of
   * sensors apply their `downtime`; default: the time passed as usual. `SAVED_STATE`.
   */
  restore(saved: SavedTask, options?: { readonly away?: DowntimeInterval }): Promise<Task>
  readonly tasks: ReadonlyMap<string, Task>
  /**
   * Hands messages to the tasks whose nodes have the resource; true when there is one. An array is one invocation.
   * The messages are kept, not copied: do not change them afterwards. `VALIDATION` for one without a resource.
   * `sent`: on which channel they come (then for sensors whose plugs hear that channel alone), and how many rules in a
   * row led to them.
   */
  receive(messages: Message | readonly Message[], sent?: Sent): boolean
  /** Why a destination fired last, and what holds back each trigger into it. `NOT_FOUND`. */
  explain(id: string, node: string): Explanation
  /** All events of all tasks; never errors, and completes on close. */
  readonly events$: Observable<EngineEvent>
  /** Which way messages took so far, and why some took the plain one. Put together when it is asked for. */
  stats(): EngineStats
  /**
   * The last events of a task, oldest first, when `EngineOptions.history` asks for it: as `events$` tells them, made when this
   * is called. `after`: only newer ones, by the `last` of an earlier call. None for a task that is removed, or in which
   * nothing happened for longest when too much was kept. In the midst of an input what that does in the task may be missing.
   */
  history(task: string, after?: number): TaskHistory
  /** Those of one type: what fired, as `events({ types: ['fired'] })`. */
  readonly fired$: Observable<FiredEvent>
  /**
   * Events of some types, of some tasks; what nobody wants is not made. As `events$` else. `VALIDATION` for a type that
   * there is none of.
   */
  events(filter?: EventFilter): Observable<EngineEvent>
  /**
   * The same events, those of one input together when it is done, and before the next one: made as objects only when
   * somebody reads them. For who counts, or wants few of many.
   */
  eventBatches(filter?: EventFilter): Observable<EventBatch>
  /** Resolves when no plug has a call open. */
  settled(): Promise<void>
  /** Stops everything for good, without `stopped` events: saved tasks can go on elsewhere. */
  close(): Promise<void>
}

export type StartSettings = TaskSettings & {
  /** default: from the engine's `ids` */
  readonly id?: string
}

export interface Changed {
  readonly task: Task
  /** what nodes had and did not keep, in the order of the old rule */
  readonly lost: readonly Lost[]
}

/** A started task. */
export interface Task {
  readonly id: string
  readonly name: string
  readonly status: TaskStatus
  info(): TaskInfo
  /** A node's state distribution and data. `NOT_FOUND`. */
  node(label: string): NodeView
  /** The same of every node, in the order of the rule. */
  nodes(): readonly NodeView[]
  /** Observes a state, sets raw data, or both, from outside. `INVALID_STATE`, `NOT_FOUND`, `WRONG_STATUS`. */
  push(node: string, value: { readonly state?: string; readonly rawData?: Record<string, unknown> }): void
  /** Runs a sensor now. */
  run(node: string): void
  /** Lets a paused sensor or actuator go on. */
  resume(node: string): void
  /**
   * Forgets when its resources were measured last, how long that took to come, and what sensors have taken: for a device
   * whose clock went back. Its time and its counts stay. `WRONG_STATUS`.
   */
  resync(): void
  explain(node: string): Explanation
  /** Plain JSON from which `engine.restore` goes on, here or elsewhere. */
  save(): SavedTask
}

/** Times are epoch ms, absent before they happened. */
export interface TaskInfo {
  readonly id: string
  readonly name: string
  readonly status: TaskStatus
  readonly type: TaskType
  readonly template?: string
  readonly resource?: string
  /** every resource that a node is bound to */
  readonly resourceIds: readonly string[]
  readonly createTime: number
  readonly startTime?: number
  readonly lastExecutionTime?: number
  readonly finishedTime?: number
  readonly nextTick?: number
  /** occurrences of its clocks that were missed and left out */
  readonly skippedTicks: number
  readonly invocationCount: number
  /** failed invocations among the last 64; inputs and calls of actuators that were dropped in this run because too many waited */
  readonly health: {
    readonly errorsCount: number
    readonly errorsRate: number
    readonly dropped: number
    /** readings that came after a newer one of their sensor; this and the next two once a message was stamped */
    readonly late?: number
    /** messages that were taken before */
    readonly duplicate?: number
    /** readings from before the time of the task that were not late: taken at its time */
    readonly skewed?: number
    /** readings that are not known any more if they come again, as too many were remembered; when there are any */
    readonly forgotten?: number
  }
  /** inputs and calls of actuators that wait, when there are any; while the task is at work, the time of the input at hand */
  readonly waiting?: { readonly inputs: number; readonly effects: number; readonly since?: number }
  /** why it could not start */
  readonly error?: string
  /** problems of the rule that did not keep it from running */
  readonly warnings: readonly string[]
}

export interface NodeView {
  readonly node: string
  readonly kind: 'sensor' | 'gate' | 'actuator'
  /** probability by state; 1 for a certain one, equal shares for a sensor that is not observed */
  readonly states: Readonly<Record<string, number>>
  /** ties go to the first state; null for actuators, sensors that are not observed, and gates behind which none is */
  readonly mostLikelyState: { readonly state: string; readonly probability: number } | null
  readonly rawData?: unknown
  /** epoch ms of the input that it was collected for, also when an actuator answered later */
  readonly collectedTime?: number
  /** `time`: as `collectedTime` */
  readonly error?: { readonly time: number; readonly message: string }
}

export interface SavedTask {
  readonly format: 1
  readonly id: string
  readonly createTime: number
  readonly template?: string
  readonly rule: Rule
  readonly overrides?: { readonly byStream: readonly string[]; readonly byData: readonly string[] }
  /** resolved resources, as the graph lists them */
  readonly resources: readonly string[]
  readonly state: SavedState
}
