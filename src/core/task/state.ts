/**
 * What a task remembers of its nodes and its work between inputs; task-state.ts holds it together. Small, plain, and
 * changed only by step.ts and the files it calls; save.ts and restore.ts convert it to JSON and back. Times are epoch
 * ms of the engine's clock.
 */
import type { ActuatorNode, GateNode, ObservableNode, SensorNode, TriggerEdge } from '../graph/graph.ts'
import type { Answer } from '../plug/result.ts'
import type { Linked, Queued } from './execution-lists.ts'
import type { Message, Origin } from './origin.ts'
import type { KnownReading, Taken } from './readings/reading.ts'

export type TaskStatus = 'running' | 'stopped' | 'failed'

export interface Observed {
  /** index of the certain state, or UNKNOWN */
  state: number
  /** last certain state; survives a reset, not an eviction */
  memory: number
  previous: number
  /** the same, or the memory when it was unknown */
  before: number
  since: number
  lost: number
}

/** What sensors and actuators share: they can be fired. */
export interface Destination {
  firedAt: number
  firing: Firing | null
  held: Held | null
  /** `HAS_BEGUN` and `MAY_END` of each trigger to it, in order; empty until one is set */
  edges: readonly number[]
  error: { time: number; message: string } | null
}

export interface SensorState extends Observed, Destination {
  /** last successful execution or push, -1 before the first */
  collectedTime: number
  rawData: Readonly<Record<string, unknown>> | undefined
  internalState: unknown
  evictAt: number
  origin: Origin | null
  via: Link | null
  running: Execution | null
  follow: Follow | null
  ownTickAt: number
  /** the stamped messages that it has taken last */
  taken: Taken | null
  /** labels of nodes that it reads and that ran with success since its last answer */
  news: readonly string[]
  /**
   * late readings for a plug that absorbs them, in order of arrival; a call in flight has seen the first `late` of them
   */
  late: readonly Message[]
  /** ms by which the clock was ahead at the observation that `evictAt` ends */
  evictLag: number
}

export type GateState = Observed

export interface ActuatorState extends Destination {
  answer: { message?: string; rawData?: unknown; collectedTime: number } | null
}

/** How an execution came about: the trigger that fired it, and the one before. */
export interface Link {
  readonly trigger: TriggerEdge
  readonly time: number
  readonly earlier: Link | null
}

/** Bits of a trigger with `begins` and `ends`: it fired in this episode; the source was in the set of `ends`. */
export const HAS_BEGUN = 1
export const MAY_END = 2

export type Match = 'state' | 'change' | 'begins' | 'ends' | 'execution'

/** A trigger that holds in an input, and the states of its source. */
export interface Holding {
  readonly trigger: TriggerEdge
  readonly matched: Match
  readonly from: number
  readonly to: number
}

export interface Firing {
  readonly trigger: TriggerEdge
  readonly time: number
  readonly invocation: number
  /** number of the input and position in it: with task and run the id of the effect */
  readonly input: number
  readonly place: number
  readonly matched: Match
  readonly from: number
  readonly to: number
  readonly also: readonly Holding[]
  readonly origin: Origin
  readonly via: Link | null
  /** snapshot of the sensors and gates behind the source */
  readonly seen: readonly Seen[]
}

export interface Seen {
  readonly node: SensorNode | GateNode
  readonly state: number
  readonly since: number
  readonly origin: Origin | null
}

export interface Held {
  readonly reason: 'invocationPolicy' | 'overlap'
  readonly time: number
  readonly until: number | undefined
  readonly trigger: TriggerEdge
}

/**
 * queued: waits for its call. rendering: its properties wait for what they need. behind: an earlier call touches the
 * same thing. called: the plug is at work. holding: a result waits for its time. retrying: waits for the next attempt.
 * paused: waits for a resume. looping: the next item of its loop waits for the end of the evaluation.
 */
export type Phase = 'queued' | 'rendering' | 'behind' | 'called' | 'holding' | 'retrying' | 'paused' | 'looping'

/** The execution never had a place among the effects. */
export const NOT_PLACED = -1

/** The links belong to its lists. */
export interface Execution extends Linked<Execution>, Queued<Execution> {
  readonly id: number
  readonly node: SensorNode | ActuatorNode
  readonly invocation: number
  readonly origin: Origin
  readonly via: Link | null
  readonly input: number
  readonly place: number
  phase: Phase
  wakeAt: number
  /** ms by which the clock is ahead of `wakeAt`, if that is of the task's own time */
  wakeLag: number
  attempt: number
  /** number of its calls, which distinguishes a late answer from the present one */
  calls: number
  held: Answer | null
  /** loopDef: all items, and the index of the present one */
  items: readonly unknown[] | null
  item: number
  resumed: boolean
  /** of a sensor: its news at the call, and how many late readings it could see */
  news: readonly string[]
  late: number
  /** the snapshot that its calls see; null: the present task */
  seen: object | null
  isOpen: boolean
  /** properties of each item, created when it fired; secrets are in them by name. Null: the call creates them */
  rendered: readonly Readonly<Record<string, unknown>>[] | null
  /** things that its calls touch, once it has a place among the effects */
  touches: readonly string[] | null
  /**
   * epoch ms of the input when it took its place, `NOT_PLACED` before; stays after it left. A delayed result moves it
   * to its own time
   */
  placedAt: number
}

export interface Evaluation {
  readonly invocation: number
  readonly selected: Map<SensorNode, Origin>
  /** sensors with a result, a resume or an item of a loop that is due */
  readonly due: Set<SensorNode>
  readonly agenda: number[]
  readonly touched: Map<ObservableNode, Touch>
}

/** What an input did with a node, and its cause. */
export interface Touch {
  readonly invocation: number
  readonly origin: Origin
  readonly via: Link | null
  /** it showed a state, or was decided */
  readonly isObserved: boolean
  /** it ran without an error */
  readonly hasSucceeded: boolean
}

export interface Follow {
  readonly at: number
  readonly lag: number
  readonly answer: Answer
  readonly invocation: number
  readonly origin: Origin
  readonly via: Link | null
}

export interface Stream {
  values: Readonly<Record<string, unknown>>
  at: number
  /** values of earlier messages that the last one did not repeat */
  carried: Map<string, { value: unknown; until: number }> | null
  same?: readonly KnownReading[]
}

export interface NodeStates {
  readonly sensors: readonly SensorState[]
  readonly gates: readonly GateState[]
  readonly actuators: readonly ActuatorState[]
  /** sensors, then gates: the same objects by node index */
  readonly observed: readonly Observed[]
}

// A node's slot always lies inside its kind's list: both come from the same graph.
export function sensorState(state: NodeStates, node: SensorNode): SensorState {
  return state.sensors[node.slot] as SensorState
}
export function observedState(state: NodeStates, node: SensorNode | GateNode): Observed {
  return state.observed[node.index] as Observed
}
export function actuatorState(state: NodeStates, node: ActuatorNode): ActuatorState {
  return state.actuators[node.slot] as ActuatorState
}
export function destinationState(state: NodeStates, node: SensorNode | ActuatorNode): Destination {
  return node.kind === 'sensor' ? sensorState(state, node) : actuatorState(state, node)
}

export function stateName(node: SensorNode | GateNode, state: number): string | null {
  return node.states[state] ?? null
}
