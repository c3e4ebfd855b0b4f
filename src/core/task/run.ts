/** Represents one running task. */
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
  /** properties of the task's own rule, which may share its graph with others */
  readonly properties: RuleProperties
  readonly settings: SharedSettings
  readonly resource: string | undefined
  /** resolved ids, without repetitions */
  readonly resources: readonly string[]
  /** maps an index in `graph.resources` to an index in `resources` */
  readonly resourceIndex: readonly number[]
  /** what the data of a resource runs, by index in `resources` */
  readonly dataPlans: readonly DataPlan[]
  readonly channelPlans: ChannelPlans
  readonly schedule: Schedule | undefined
  /** clocks of single sensors, by slot */
  readonly sensorSchedules: ReadonlyMap<number, Schedule>
  /** ms for which a stream value stays available */
  readonly streamValidity: number
  /** maximum number of inputs that wait for the current one, and of effects that wait for earlier ones */
  readonly maxWaiting: number
  readonly identityIgnores: readonly string[]
  /** ms of the clock for which repetitions are recognized of readings that sensors do not remember */
  readonly dedupWindow: number
}

export interface FiringCounts {
  firings: number
  calls: number
  held: number
  dropped: number
}

export interface TaskCounts extends FiringCounts, ReadingCounts {}

/** Receives the outputs of a task. The driver supplies it; the state machine itself touches nothing outside. */
export interface Sink {
  /** null without subscribers: events are then not created */
  readonly event: ((event: EngineEvent) => void) | null
  /** events about single messages */
  readonly detail: ((event: EngineEvent) => void) | null
  /** receives lifecycle events: starts, ends, failures and log lines; null without subscribers */
  readonly lifecycle: ((event: RareEvent) => void) | null
  readonly counts: TaskCounts | null
  readonly why: boolean
  /** Requests a timer input. `key`: a sensor's slot; for `wake` the node's position, counting sensors first. */
  timer(kind: TimerKind, at: number, key: number): void
  remembered(count: number): void
  cancelled(execution: Execution): void
  /** Returns the number of the newest invocation. `known`: the newest number in the state. */
  newest(known: number): number
}

/** Used without subscribers, when timers are already set. */
export const SILENT: Sink = {
  event: null,
  detail: null,
  lifecycle: null,
  counts: null,
  why: false,
  timer: () => undefined,
  remembered: () => undefined,
  cancelled: () => undefined,
  newest: (known) => known,
}

type Located = Pick<Execution['node'], 'resource' | 'observes'>
type InGroup = Pick<Execution, 'node' | 'member'>

export interface TaskRun {
  readonly model: TaskModel
  readonly state: TaskState
  readonly sink: Sink
  now: number
  /** epoch ms of the engine's clock, never less than `now`: the time for deadlines, back-off and fixed delays */
  at: number
  /** fixed fields of a state that is packed */
  readonly started?: Pick<TaskState, 'run' | 'seed'>
}

/** Returns the ms by which the clock was ahead of the input at first; its timers wait longer by that time. */
export function lagOf({ state }: Pick<TaskRun, 'state'>): number {
  return state.readings?.lag ?? 0
}

/** An index in `model.resources`; -1 without a resource. */
export function resourceIndexOf(model: TaskModel, node: { readonly resource: number }): number {
  return node.resource === -1 ? -1 : (model.resourceIndex[node.resource] ?? -1)
}

/** Returns the resource of a node; for a node with a group, the member that is loaded. */
export function resourceOf({ model, state }: Pick<TaskRun, 'model' | 'state'>, node: Located): string | undefined {
  return node.observes === -1 ? model.resources[resourceIndexOf(model, node)] : state.groups[node.observes]?.loaded?.id
}

/** Returns the resource of an execution's node; for a node with a group, the member for which it runs. */
export function resourceFor({ model }: Pick<TaskRun, 'model'>, { node, member }: InGroup): string | undefined {
  return node.observes === -1 ? model.resources[resourceIndexOf(model, node)] : (member ?? undefined)
}

/** Returns the resource that `$` stands for in an execution: the task's, or the member for which it runs. */
export function ownResourceFor({ model }: Pick<TaskRun, 'model'>, { member }: InGroup): string | undefined {
  return member ?? model.resource
}

/** Returns the index of the stream that a node reads: streams of resources first, then of groups; -1: none. */
export function streamIndexOf(model: TaskModel, node: Located): number {
  return node.observes === -1 ? resourceIndexOf(model, node) : model.resources.length + node.observes
}

/** An actuator's result has the time of the input that fired it, plus the delay of the result. */
export function timeOf({ now }: TaskRun, { node, placedAt }: Execution): number {
  return node.kind === 'sensor' || placedAt === NOT_PLACED ? now : placedAt
}

/** Returns task/run/input/place. Equal inputs lead to equal ids, so that a repeated delivery can be recognized. */
export function effectId(run: TaskRun, effect: Pick<Execution, 'input' | 'indexInInput'>): string {
  return `${run.model.id}/${(run.started ?? run.state).run}/${effect.input}/${effect.indexInInput}`
}
