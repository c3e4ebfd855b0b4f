/** Declares the interface of the library: an engine that runs many tasks, and a handle for each task. */
import type { Observable, SchedulerLike } from 'rxjs'
import type { Plug } from '../plug/plug.ts'
import type { Ports } from '../ports.ts'
import type { Logger } from '#kernel'
import type { Generate } from './executor.ts'
import type { Group, Rule, TaskSettings, TaskType, Template } from '../rule/rule.ts'
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
  /** plugs that rules may use, by name and version */
  readonly plugs: readonly Plug[]
  /** default false; true: `start` and `update` reject properties that a plug does not declare */
  readonly strict?: boolean
  /** clock that is read for each message and wakes the timers of the engine */
  readonly scheduler: SchedulerLike
  /**
   * maximum ms between two readings of the clock while something waits, so that a clock that jumps forward is noticed;
   * default 24 days
   */
  readonly recheckMs?: number
  /**
   * minimum ms between two wake-ups by timers. A single timer is on time; many timers act in batches, each at most this
   * late; default 0
   */
  readonly restMs?: number
  /** generates ids of tasks that are started without one */
  readonly ids: () => string
  /** seed of random choices; equal seeds repeat a run */
  readonly seed: number
  /** sources of metadata, secrets and last values; default: nothing is known */
  readonly ports?: Ports
  /** receives failures that cannot be reported elsewhere, such as a subscriber that throws; default: none */
  readonly logger?: Logger
  /** passed to every plug as `globalSettings` */
  readonly globalSettings?: Readonly<Record<string, unknown>>
  /** default true: `fired` events contain their why */
  readonly why?: boolean
  /**
   * default true; false: emits no `tick`, `data`, `state` and `gate` events, and `result` only with an error, for
   * subscribers that only count
   */
  readonly detail?: boolean
  /**
   * receives events worth storing, with or without subscribers: starts, ends, failures, log lines, and results with an
   * error
   */
  readonly onRare?: (event: RareEvent) => void
  /**
   * keeps the last events of each task for `Engine.history`, with or without subscribers; default: none. Does not
   * prevent the fast path for tasks; events are created when read. `VALIDATION` for limits below one event
   */
  readonly history?: HistoryOptions
  /**
   * called when a plug returns a promise; the returned function is called when the promise settles, even if its result
   * is no longer needed
   */
  readonly timed?: () => () => void
  /** compiles source text that the engine generated; omit it where code generation is forbidden, at a cost of speed */
  readonly generate?: Generate
  /** for simulations: ms by which the result of each call is delayed */
  readonly latency?: (execution: Execution) => number
  /** for simulations: true counts an occurrence of a schedule at the very instant of the task's start; default false */
  readonly runsAtStart?: boolean
  /** for hosts that keep tasks across restarts */
  readonly journal?: Journal
  /** ms for which values of a message stay available to later executions; default 60,000 */
  readonly streamValidity?: number
  /**
   * maximum number of inputs that wait while a task works on an earlier one, and of actuator calls that wait for
   * earlier ones; default 1,000 each. Beyond it the oldest message or call is dropped, counted and logged
   */
  readonly maxWaiting?: number
  /** keys of messages, such as `receivedAt`, that are ignored when detecting repeated messages */
  readonly identityIgnores?: readonly string[]
  /** whether repeated messages are processed again, for tasks whose rule does not say; default `drop` */
  readonly duplicates?: 'drop' | 'take'
  /**
   * ms for which tasks that handle late readings recognize repetitions of the last 1,000 readings of a resource;
   * default 600,000
   */
  readonly dedupWindow?: number
  /**
   * maximum number of readings, of 16 bytes each, that all tasks together remember to recognize repetitions; beyond it
   * the oldest are forgotten and counted; default 4,194,304
   */
  readonly maxRemembered?: number
  /**
   * maximum number of tasks whose full state is in memory unpacked; other states are packed until needed; default
   * 10,000
   */
  readonly fullStates?: number
}

export interface Engine {
  /**
   * Starts a rule or template with task settings, or restarts a stopped task by its id. Rejects with `VALIDATION` (all
   * problems at once) or `RESOLUTION`; then the task does not exist, or an existing task is `failed`.
   */
  start(rule: Rule | Template | string, settings?: StartSettings): Promise<Task>
  /** Stops a running task and drops its unfinished work. `WRONG_STATUS` for other tasks. */
  stop(id: string): Promise<Task>
  /**
   * Replaces a task's rule. A stopped task that ran before starts again, unless the settings say otherwise; a running
   * task continues, as with `change`.
   */
  update(id: string, rule: Rule | Template, settings?: TaskSettings): Promise<Task>
  /**
   * Replaces the rule of a running task, which continues: untouched sensors and actuators keep their states, windows,
   * cool-downs, timers and calls. Does not wait for open calls. A node is touched when anything but its position,
   * description and icon changed: its plug or properties, a variable that they read, its resource, its times. Touched
   * nodes restart, relations are decided again, and nothing fires. Rejects with `VALIDATION`, `RESOLUTION`, `NOT_FOUND`
   * and `WRONG_STATUS`; then the task continues with its old rule.
   */
  change(id: string, rule: Rule | Template, settings?: TaskSettings): Promise<Changed>
  /** Previews what nodes would lose by that `change`. Rejects like `change`. */
  whatChanges(id: string, rule: Rule | Template, settings?: TaskSettings): Promise<readonly Lost[]>
  /** Removes a task. `WRONG_STATUS` while it runs, unless forced. */
  remove(id: string, options?: { force?: boolean }): Promise<void>
  /**
   * Resumes a saved task with its timers, cool-downs and unfinished work. `away`: the downtime of the host, to which
   * waits of sensors apply their `downtime` policy; default: time passed as usual. `SAVED_STATE`.
   */
  restore(saved: SavedTask, options?: { readonly away?: DowntimeInterval }): Promise<Task>
  readonly tasks: ReadonlyMap<string, Task>
  /**
   * Passes messages to the tasks whose nodes use the resource; returns false if no task does. An array is one
   * invocation. Messages are kept, not copied: do not change them afterwards. `VALIDATION` for a message without a
   * resource. `sent`: the channel (which runs only sensors whose plugs have that channel), and how many rules in a row
   * led to the messages.
   */
  receive(messages: Message | readonly Message[], sent?: Sent): boolean
  /** Explains why a node last fired or has its state, and what keeps each trigger into it from firing. `NOT_FOUND`. */
  explain(id: string, node: string): Explanation
  /** Emits all events of all tasks. Never errors; completes when the engine closes. */
  readonly events$: Observable<EngineEvent>
  /** Counts which paths messages took through the engine, and why some took the slower plain path. */
  stats(): EngineStats
  /**
   * Returns the last events of a task, oldest first, if `EngineOptions.history` is set. They equal the events of
   * `events$`, and are created by this call. `after`: returns only events newer than the `last` of an earlier call.
   * Empty for removed tasks and, once the limit was exceeded, for the least active tasks. While an input is being
   * processed, its events may be missing.
   */
  history(task: string, after?: number): TaskHistory
  /** Emits only `fired` events, like `events({ types: ['fired'] })`, when their input is done. */
  readonly fired$: Observable<FiredEvent>
  /**
   * Emits events of some types, of some tasks; events without a subscriber are never created. Otherwise like `events$`.
   * `VALIDATION` for an unknown type.
   */
  events(filter?: EventFilter): Observable<EngineEvent>
  /**
   * Emits the same events in batches, one per input, after that input is done and before the next one. Events are
   * created only when read: for subscribers that count events, or read few of many.
   */
  eventBatches(filter?: EventFilter): Observable<EventBatch>
  /** Resolves when every plug call has settled. */
  settled(): Promise<void>
  /** Stops all tasks for good, without `stopped` events; saved tasks can continue elsewhere. */
  close(): Promise<void>
}

export type StartSettings = TaskSettings & {
  /** default: generated by the engine's `ids` */
  readonly id?: string
}

export interface MembershipChange {
  /** ids of the resources that join; default: none */
  readonly joined?: readonly string[]
  /** ids of the resources that leave, before others join; default: none */
  readonly left?: readonly string[]
}

export interface Changed {
  readonly task: Task
  /** state that nodes lost in the change, in the order of the old rule */
  readonly lost: readonly Lost[]
}

export interface Task {
  readonly id: string
  readonly name: string
  readonly status: TaskStatus
  info(): TaskInfo
  /** Returns a node's state distribution and data. `NOT_FOUND`. */
  node(label: string): NodeView
  nodes(): readonly NodeView[]
  /** Sets a node's state, its raw data, or both. `INVALID_STATE`, `NOT_FOUND`, `WRONG_STATUS`. */
  push(node: string, value: { readonly state?: string; readonly rawData?: Record<string, unknown> }): void
  run(node: string): void
  /**
   * Lets members join and leave a group of the rule, written as in the rule; each is an input of its own. `NOT_FOUND`,
   * `TOO_LARGE`, `WRONG_STATUS`.
   */
  changeMembers(group: Group, change: MembershipChange): void
  /** Continues a paused sensor or actuator. */
  resume(node: string): void
  /**
   * Forgets the last measurement times of the task's resources, their delays, and which readings sensors processed: for
   * a device whose clock went back. The task's time and counts stay. `WRONG_STATUS`.
   */
  resync(): void
  explain(node: string): Explanation
  /** Returns plain JSON for `engine.restore`, here or elsewhere. */
  save(): SavedTask
}

/** The record of a task. Times are epoch ms, absent until they happen. */
export interface TaskInfo {
  readonly id: string
  readonly name: string
  readonly status: TaskStatus
  readonly type: TaskType
  readonly template?: string
  readonly resource?: string
  /** all resources of the task's nodes */
  readonly resourceIds: readonly string[]
  readonly createTime: number
  readonly startTime?: number
  readonly lastExecutionTime?: number
  readonly finishedTime?: number
  readonly nextTick?: number
  /** occurrences of the task's clocks that were missed and skipped */
  readonly skippedTicks: number
  readonly invocationCount: number
  /**
   * numbers of failed invocations among the last 64, and of inputs and actuator calls that were dropped in this run
   * because too many were waiting
   */
  readonly health: {
    readonly errorsCount: number
    readonly errorsRate: number
    readonly dropped: number
    /**
     * readings older than a newer one of the same sensor; this and the next two appear after the first message with a
     * timestamp
     */
    readonly late?: number
    /** messages that were repeated */
    readonly duplicate?: number
    /** readings that were older than the time of the task but not late, and were processed at that time */
    readonly skewed?: number
    /** readings whose repetition is no longer recognized, because too many were remembered; absent: none */
    readonly forgotten?: number
  }
  /** numbers of waiting inputs and actuator calls, if any; `since`: time of the input that the task is processing */
  readonly waiting?: { readonly inputs: number; readonly effects: number; readonly since?: number }
  /** reason why the task could not start */
  readonly error?: string
  /** problems of the rule that did not prevent its start */
  readonly warnings: readonly string[]
}

export interface NodeView {
  readonly node: string
  readonly kind: 'sensor' | 'gate' | 'actuator'
  /** probability of each state; 1 for a certain state, equal shares for a sensor without an observation */
  readonly states: Readonly<Record<string, number>>
  /**
   * the first of equally likely states; null for actuators, sensors without an observation, and gates whose sensors all
   * lack an observation
   */
  readonly mostLikelyState: { readonly state: string; readonly probability: number } | null
  readonly rawData?: unknown
  /** epoch ms of the input that led to the raw data, even if an actuator finished later */
  readonly collectedTime?: number
  /**
   * of a node with one state per member of a group: the number of members, and of those with a known state, of which
   * `states` are the shares
   */
  readonly members?: { readonly count: number; readonly known: number }
  /** `time`: epoch ms of the input, like `collectedTime` */
  readonly error?: { readonly time: number; readonly message: string }
}

export interface SavedTask {
  readonly format: 1
  readonly id: string
  readonly createTime: number
  readonly template?: string
  readonly rule: Rule
  readonly overrides?: { readonly byStream: readonly string[]; readonly byData: readonly string[] }
  /** resolved resources, in the order of the graph */
  readonly resources: readonly string[]
  readonly state: SavedState
}
