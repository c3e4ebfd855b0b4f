/** The interface of the library: an engine of many tasks, and a handle for each. */
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
  /** available to rules, by name and version */
  readonly plugs: readonly Plug[]
  /** default false; true: `start` and `update` reject properties that a plug does not declare */
  readonly strict?: boolean
  /** the clock, read for each message; all timers of the engine wait on it */
  readonly scheduler: SchedulerLike
  /**
   * ms after which the clock is read again while something waits, so that a clock that was put forward is noticed;
   * default 24 days
   */
  readonly recheckMs?: number
  /**
   * minimum of ms between two wake-ups by timers; a single timer is on time, many act in batches, each at most this
   * late; default 0
   */
  readonly restMs?: number
  /** ids of tasks that are started without one */
  readonly ids: () => string
  /** of random choices; equal seeds repeat a run */
  readonly seed: number
  /** metadata, secrets and last values from outside; default: nothing is known */
  readonly ports?: Ports
  /** receives failures without another recipient, such as a subscriber that throws; default: none */
  readonly logger?: Logger
  /** passed to every plug as `globalSettings` */
  readonly globalSettings?: Readonly<Record<string, unknown>>
  /** default true: `fired` events carry their why */
  readonly why?: boolean
  /**
   * default true; false: without `tick`, `data`, `state` and `gate`, and `result` only with an error, for subscribers
   * that only count
   */
  readonly detail?: boolean
  /**
   * receives events worth keeping, with or without subscribers: starts, ends, failures, log lines, and results with an
   * error
   */
  readonly onRare?: (event: RareEvent) => void
  /**
   * keeps the last events of each task for `Engine.history`, with or without subscribers; default: none. Tasks stay
   * rows; their events are created when read. `VALIDATION` for limits below one event
   */
  readonly history?: HistoryOptions
  /** called when a plug did not answer at once; the returned function is called with its answer, wanted or not */
  readonly timed?: () => () => void
  /** compiles source text that the engine generated; absent where code generation is forbidden, at a cost of speed */
  readonly generate?: Generate
  /** for simulations: ms by which the answer of each call is delayed */
  readonly latency?: (execution: Execution) => number
  /**
   * for simulations: an occurrence of a schedule at the instant of its task's start counts as the first; default false
   */
  readonly runsAtStart?: boolean
  /** for hosts that keep tasks over restarts */
  readonly journal?: Journal
  /** ms for which values of a message stay available to later executions; default 60,000 */
  readonly streamValidity?: number
  /**
   * limit of inputs that wait while a task works on an earlier one, and of actuator calls that wait for earlier ones;
   * default 1,000 each. Beyond it the oldest message or call is dropped, counted and logged
   */
  readonly maxWaiting?: number
  /** keys of messages, such as `receivedAt`, that are ignored when messages are compared for repetition */
  readonly identityIgnores?: readonly string[]
  /** default of tasks whose rule does not set it: whether repeated messages are taken again; default `drop` */
  readonly duplicates?: 'drop' | 'take'
  /** ms for which tasks with late readings recognize the last 1,000 of a resource; default 600,000 */
  readonly dedupWindow?: number
  /**
   * readings, of 16 bytes each, that all tasks together recognize; beyond it the oldest are forgotten and counted;
   * default 4,194,304
   */
  readonly maxRemembered?: number
  /** tasks with their full state at hand; the state of others is packed until it is needed; default 10,000 */
  readonly fullStates?: number
}

export interface Engine {
  /**
   * Starts a rule or template with task settings, or a stopped task by its id. Rejects with `VALIDATION` (all problems
   * at once) or `RESOLUTION`; then the task does not exist, or an existing one is `failed`.
   */
  start(rule: Rule | Template | string, settings?: StartSettings): Promise<Task>
  /** Stops a running task and drops its work in flight. `WRONG_STATUS` for other tasks. */
  stop(id: string): Promise<Task>
  /**
   * Replaces a task's rule. A stopped task starts if it ran before, unless the settings say otherwise; a running one
   * continues, as with `change`.
   */
  update(id: string, rule: Rule | Template, settings?: TaskSettings): Promise<Task>
  /**
   * Replaces the rule of a running task, which continues: untouched sensors and actuators keep their states, windows,
   * cool-downs, timers and calls, and open calls delay nothing. A node is touched when anything but its position,
   * description and icon changed: its plug or properties, a variable that they read, its resource, its times. Touched
   * nodes restart, relations are decided again, and nothing fires. Rejects with `VALIDATION`, `RESOLUTION`, `NOT_FOUND`
   * and `WRONG_STATUS`; then the task continues with its old rule.
   */
  change(id: string, rule: Rule | Template, settings?: TaskSettings): Promise<Changed>
  /** Previews what nodes would lose by that `change`. Rejects like it. */
  whatChanges(id: string, rule: Rule | Template, settings?: TaskSettings): Promise<readonly Lost[]>
  /** Removes a task. `WRONG_STATUS` while it runs, unless forced. */
  remove(id: string, options?: { force?: boolean }): Promise<void>
  /**
   * Resumes a saved task with its timers, cool-downs and work in flight. `away`: the downtime of the host, to which
   * waits of sensors apply their `downtime`; default: time passed as usual. `SAVED_STATE`.
   */
  restore(saved: SavedTask, options?: { readonly away?: DowntimeInterval }): Promise<Task>
  readonly tasks: ReadonlyMap<string, Task>
  /**
   * Passes messages to the tasks whose nodes have the resource; false without such a task. An array is one invocation.
   * Messages are kept, not copied: do not change them afterwards. `VALIDATION` for a message without a resource.
   * `sent`: the channel (which runs only sensors whose plugs have that channel), and how many rules in a row led to the
   * messages.
   */
  receive(messages: Message | readonly Message[], sent?: Sent): boolean
  /** Explains why a destination fired last, and what holds back each trigger into it. `NOT_FOUND`. */
  explain(id: string, node: string): Explanation
  /** All events of all tasks. Never errors; completes on close. */
  readonly events$: Observable<EngineEvent>
  /** Counts which paths messages took, and why some took the plain one. */
  stats(): EngineStats
  /**
   * The last events of a task, oldest first, with `EngineOptions.history`: equal to those of `events$`, created by this
   * call. `after`: only newer ones, by the `last` of an earlier call. Empty for removed tasks, and for the least active
   * ones once the limit was exceeded. In the middle of an input, its events may be missing.
   */
  history(task: string, after?: number): TaskHistory
  /** Only what fired, like `events({ types: ['fired'] })`: delivered when the input is done. */
  readonly fired$: Observable<FiredEvent>
  /**
   * Events of some types, of some tasks; events without a subscriber are never created. Otherwise like `events$`.
   * `VALIDATION` for an unknown type.
   */
  events(filter?: EventFilter): Observable<EngineEvent>
  /**
   * The same events in batches, one per input, emitted when it is done and before the next one. Events are created only
   * when they are read: for subscribers that count, or want few of many.
   */
  eventBatches(filter?: EventFilter): Observable<EventBatch>
  /** Resolves when every plug call is settled. */
  settled(): Promise<void>
  /** Stops everything for good, without `stopped` events; saved tasks can continue elsewhere. */
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

export interface Task {
  readonly id: string
  readonly name: string
  readonly status: TaskStatus
  info(): TaskInfo
  /** A node's state distribution and data. `NOT_FOUND`. */
  node(label: string): NodeView
  nodes(): readonly NodeView[]
  /** Observes a state, sets raw data, or both. `INVALID_STATE`, `NOT_FOUND`, `WRONG_STATUS`. */
  push(node: string, value: { readonly state?: string; readonly rawData?: Record<string, unknown> }): void
  run(node: string): void
  /** Continues a paused sensor or actuator. */
  resume(node: string): void
  /**
   * Forgets the last measurement times of its resources, their delays, and the readings that sensors took: for a device
   * whose clock went back. Its time and counts stay. `WRONG_STATUS`.
   */
  resync(): void
  explain(node: string): Explanation
  /** Plain JSON for `engine.restore`, here or elsewhere. */
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
  /** missed occurrences of its clocks that were skipped */
  readonly skippedTicks: number
  readonly invocationCount: number
  /**
   * failed invocations among the last 64; inputs and actuator calls that were dropped in this run because too many
   * waited
   */
  readonly health: {
    readonly errorsCount: number
    readonly errorsRate: number
    readonly dropped: number
    /** readings older than a newer one of their sensor; this and the next two exist once a message had a timestamp */
    readonly late?: number
    /** repeated messages */
    readonly duplicate?: number
    /** readings from before the time of the task that were not late, taken at its time */
    readonly skewed?: number
    /** readings that are no longer recognized when repeated, because too many were remembered; absent: none */
    readonly forgotten?: number
  }
  /** waiting inputs and actuator calls, if any; `since`: time of the input that the task works on */
  readonly waiting?: { readonly inputs: number; readonly effects: number; readonly since?: number }
  /** why it could not start */
  readonly error?: string
  /** problems of the rule that did not prevent its start */
  readonly warnings: readonly string[]
}

export interface NodeView {
  readonly node: string
  readonly kind: 'sensor' | 'gate' | 'actuator'
  /** probability by state; 1 for a certain one, equal shares for a sensor without an observation */
  readonly states: Readonly<Record<string, number>>
  /**
   * ties go to the first state; null for actuators, sensors without an observation, and gates behind which all sensors
   * lack one
   */
  readonly mostLikelyState: { readonly state: string; readonly probability: number } | null
  readonly rawData?: unknown
  /** epoch ms of the input that it was collected for, even when an actuator answered later */
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
