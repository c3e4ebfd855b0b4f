/** One task at work: what never changes during a run, what does, and who listens. */
import type { EngineEvent, RareEvent } from '../engine/events.ts'
import type { ChannelPlans, DataPlan, Graph } from '../graph/graph.ts'
import type { RuleProperties } from '../graph/rule-properties.ts'
import type { SharedSettings } from '../rule/settings.ts'
import type { Schedule } from '../schedule/schedule.ts'
import type { TimerKind } from './input.ts'
import type { ReadingCounts } from './readings/readings.ts'
import { NOT_PLACED, type Execution } from './state.ts'
import type { TaskState } from './task-state.ts'

/** Fixed from start to stop. */
export interface TaskModel {
  readonly id: string
  readonly graph: Graph
  /** of the task's own rule, which may share its graph with others */
  readonly properties: RuleProperties
  readonly settings: SharedSettings
  /** of the task itself; undefined: it has none */
  readonly resource: string | undefined
  /** resolved and distinct */
  readonly resources: readonly string[]
  /** place in `resources` by place in `graph.resources` */
  readonly resourcePlace: readonly number[]
  /** what data for a resource runs, by place in `resources` */
  readonly dataPlans: readonly DataPlan[]
  /** the same for messages on channels */
  readonly channelPlans: ChannelPlans
  /** the task's clock; undefined for reactive tasks */
  readonly schedule: Schedule | undefined
  /** clocks of single sensors, by slot */
  readonly ownSchedules: ReadonlyMap<number, Schedule>
  /** ms that a stream value stays in reach */
  readonly streamValidity: number
  /** inputs that may wait for the one at hand, and effects for earlier ones */
  readonly maxWaiting: number
  /** keys of messages that do not count when two of them are compared */
  readonly identityIgnores: readonly string[]
  /** ms of the clock for which readings are known again, where sensors do not know them */
  readonly dedupWindow: number
}

export interface FiringCounts {
  firings: number
  calls: number
  held: number
  /** inputs and effects that were dropped */
  dropped: number
}

/** What a driver counts of its tasks. */
export interface TaskCounts extends FiringCounts, ReadingCounts {}

/** Who hears of what a task does. The driver gives it; the state machine itself touches nothing outside. */
export interface Sink {
  /** null when nobody listens: then no event is built */
  readonly event: ((event: EngineEvent) => void) | null
  /** the same for what happens at every message: ticks, data, states, gates, and results without an error */
  readonly detail: ((event: EngineEvent) => void) | null
  /** the same for what is rare and worth keeping: starts, ends, failures and lines of the log */
  readonly rare: ((event: RareEvent) => void) | null
  /** null: nobody counts */
  readonly counts: TaskCounts | null
  /** whether `fired` carries its why */
  readonly why: boolean
  /** Asks for a timer input at `at`. `key` is a sensor's slot; for `wake` the node's place, sensors first, then actuators. */
  timer(kind: TimerKind, at: number, key: number): void
  /** a reading is known from now on if it comes again; there is memory for so many more */
  remembered(count: number): void
  /** an execution was superseded, timed out or stopped: its plug should give up */
  cancelled(execution: Execution): void
  /** Returns the number of the newest invocation; `known`: the newest that the state has seen. */
  newest(known: number): number
}

/** Nobody hears of it, and timers were asked for already. */
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
  /** epoch ms of the input at hand: the rule's time */
  now: number
  /** epoch ms of the engine's clock, never behind `now`: the time of limits, back-off and fixed delays */
  at: number
  /** what its start has fixed of the state, where that is not at hand */
  readonly started?: Pick<TaskState, 'run' | 'seed'>
}

/** ms by which the clock was ahead of the time of the input at hand when that was there to be taken: its timers wait so much longer. */
export function lagOf({ state }: Pick<TaskRun, 'state'>): number {
  return state.readings?.lag ?? 0
}

/** The sensor's place in `model.resources`, -1 without a resource. */
export function resourcePlaceOf(model: TaskModel, node: { readonly resource: number }): number {
  return node.resource === -1 ? -1 : (model.resourcePlace[node.resource] ?? -1)
}

/**
 * The time of what a plug says: for a sensor that of the input at hand; for an actuator, which answers beside the inputs,
 * that of the one that it fired for, later only by what it holds its results back.
 */
export function timeOf({ now }: TaskRun, { node, placedAt }: Execution): number {
  return node.kind === 'sensor' || placedAt === NOT_PLACED ? now : placedAt
}

/** task/run/input/place: the same for the same inputs, so that a repeated delivery can be recognised. */
export function effectId(run: TaskRun, effect: Pick<Execution, 'input' | 'place'>): string {
  return `${run.model.id}/${(run.started ?? run.state).run}/${effect.input}/${effect.place}`
}
