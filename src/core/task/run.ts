/** One running task: its fixed model, its state, and the sink of what it does. */
import type { EngineEvent, RareEvent } from '../engine/events.ts'
import type { ChannelPlans, DataPlan, Graph } from '../graph/graph.ts'
import type { RuleProperties } from '../graph/rule-properties.ts'
import type { SharedSettings } from '../rule/settings.ts'
import type { Schedule } from '../schedule/schedule.ts'
import type { TimerKind } from './input.ts'
import type { ReadingCounts } from './readings/readings.ts'
import { NOT_PLACED, type Execution } from './state.ts'
import type { TaskState } from './task-state.ts'

export interface TaskModel {
  readonly id: string
  readonly graph: Graph
  /** of the task's own rule, which may share its graph with others */
  readonly properties: RuleProperties
  readonly settings: SharedSettings
  readonly resource: string | undefined
  /** resolved and distinct */
  readonly resources: readonly string[]
  /** index in `resources` by index in `graph.resources` */
  readonly resourcePlace: readonly number[]
  /** what data for a resource runs, by index in `resources` */
  readonly dataPlans: readonly DataPlan[]
  readonly channelPlans: ChannelPlans
  /** the task's clock; undefined for reactive tasks */
  readonly schedule: Schedule | undefined
  /** clocks of single sensors, by slot */
  readonly ownSchedules: ReadonlyMap<number, Schedule>
  /** ms for which a stream value stays available */
  readonly streamValidity: number
  /** limit of inputs that wait for the present one, and of effects that wait for earlier ones */
  readonly maxWaiting: number
  readonly identityIgnores: readonly string[]
  /** ms of the clock for which repeated readings are recognized that sensors do not know */
  readonly dedupWindow: number
}

export interface FiringCounts {
  firings: number
  calls: number
  held: number
  dropped: number
}

export interface TaskCounts extends FiringCounts, ReadingCounts {}

/** The outputs of a task. The driver supplies them; the state machine itself touches nothing outside. */
export interface Sink {
  /** null without subscribers: then events are not created */
  readonly event: ((event: EngineEvent) => void) | null
  /** the same for details of messages: ticks, data, states, gates, and results without an error */
  readonly detail: ((event: EngineEvent) => void) | null
  /** the same for lifecycle events: starts, ends, failures and log lines */
  readonly rare: ((event: RareEvent) => void) | null
  readonly counts: TaskCounts | null
  readonly why: boolean
  /**
   * Requests a timer input at `at`. `key`: a sensor's slot; for `wake` the node's position, sensors first, then
   * actuators.
   */
  timer(kind: TimerKind, at: number, key: number): void
  remembered(count: number): void
  /** Notes that an execution was superseded, timed out or stopped: its plug should stop. */
  cancelled(execution: Execution): void
  /** Returns the number of the newest invocation; `known`: the newest of the state. */
  newest(known: number): number
}

/** Without subscribers, for timers that are set already. */
export const SILENT: Sink = {
  event: null,
  detail: null,
  rare: null,
  counts: null,
  why: false,
  timer: () => undefined,
  remembered: () => undefined,
  cancelled: () => undefined,
  newest: (known) => known,
}

export interface TaskRun {
  readonly model: TaskModel
  readonly state: TaskState
  readonly sink: Sink
  now: number
  /** epoch ms of the engine's clock, never behind `now`: the time of deadlines, back-off and fixed delays */
  at: number
  /** fixed parts of a state that is not at hand */
  readonly started?: Pick<TaskState, 'run' | 'seed'>
}

/**
 * ms by which the clock was ahead of the time of the present input when that could be taken: its timers wait so much
 * longer.
 */
export function lagOf({ state }: Pick<TaskRun, 'state'>): number {
  return state.readings?.lag ?? 0
}

/** The sensor's index in `model.resources`, -1 without a resource. */
export function resourcePlaceOf(model: TaskModel, node: { readonly resource: number }): number {
  return node.resource === -1 ? -1 : (model.resourcePlace[node.resource] ?? -1)
}

/**
 * The time of a plug's result: for a sensor that of the present input; for an actuator, which answers beside the
 * inputs, that of the input that fired it, later only by the delay of its results.
 */
export function timeOf({ now }: TaskRun, { node, placedAt }: Execution): number {
  return node.kind === 'sensor' || placedAt === NOT_PLACED ? now : placedAt
}

/** task/run/input/place: the same for the same inputs, so that a repeated delivery can be recognized. */
export function effectId(run: TaskRun, effect: Pick<Execution, 'input' | 'place'>): string {
  return `${run.model.id}/${(run.started ?? run.state).run}/${effect.input}/${effect.place}`
}
