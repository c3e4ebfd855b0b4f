/**
 * What a task remembers of its nodes and its work between inputs; task-state.ts holds it together. Small, plain, and
 * changed only by step.ts and the files it calls; save.ts turns it into JSON and back. Times are epoch ms of the
 * engine's clock.
 */
import type { ActuatorNode, GateNode, ObservableNode, SensorNode, TriggerEdge } from '../graph/graph.ts'
import type { Answer } from '../plug/result.ts'
import type { Linked, Queued } from './execution-lists.ts'
import type { Message, Origin } from './origin.ts'
import type { KnownReading, Taken } from './readings/reading.ts'

export type TaskStatus = 'running' | 'stopped' | 'failed'

/** What sensors and gates have in common. */
export interface Observed {
  /** index of the certain state, UNKNOWN when there is none */
  state: number
  /** last certain state; survives a reset, not an eviction */
  memory: number
  /** state before the last evaluation */
  previous: number
  /** the same, or the memory when it was unknown */
  before: number
  /** since when it has its last certain state */
  since: number
  /** when it became unknown */
  lost: number
}

/** What sensors and actuators have in common: they can be fired. */
export interface Destination {
  /** last firing, -Infinity before the first */
  firedAt: number
  firing: Firing | null
  held: Held | null
  /** `HAS_BEGUN` and `MAY_END` of each trigger to it, in their order; empty until one is set */
  edges: readonly number[]
  error: { time: number; message: string } | null
}

export interface SensorState extends Observed, Destination {
  /** last successful execution or push, -1 before the first */
  collectedTime: number
  rawData: Readonly<Record<string, unknown>> | undefined
  internalState: unknown
  evictAt: number
  /** what made the present state, for the why */
  origin: Origin | null
  via: Link | null
  /** the execution at work */
  running: Execution | null
  follow: Follow | null
  /** next tick of its own clock */
  ownTickAt: number
  /** what it has taken last of stamped messages */
  taken: Taken | null
  /** labels of nodes that it reads and that have run with success since it answered last */
  news: readonly string[]
  /** late readings for a plug that absorbs them, in the order of arrival: a call in flight has seen the first `late` of them */
  late: readonly Message[]
  /** ms by which the clock was ahead when the observation was made that `evictAt` ends */
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

/** Which part of a trigger holds. */
export type Match = 'state' | 'change' | 'begins' | 'ends' | 'execution'

/** A trigger that holds in an input, and what it saw of its source. */
export interface Holding {
  readonly trigger: TriggerEdge
  readonly matched: Match
  readonly from: number
  readonly to: number
}

/** Enough of a firing to explain it later. */
export interface Firing {
  readonly trigger: TriggerEdge
  readonly time: number
  readonly invocation: number
  /** number of the input and place in it: with task and run the id of the effect */
  readonly input: number
  readonly place: number
  readonly matched: Match
  readonly from: number
  readonly to: number
  /** the other triggers that held in the same input */
  readonly also: readonly Holding[]
  readonly origin: Origin
  readonly via: Link | null
  /** the sensors and gates behind the source, as they were */
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
 * same. called: the plug has it. holding: a result waits for its time. retrying: waits for the next attempt.
 * paused: waits for a resume. looping: the next item of its loop waits for the end of the evaluation at hand.
 */
export type Phase = 'queued' | 'rendering' | 'behind' | 'called' | 'holding' | 'retrying' | 'paused' | 'looping'

/** The execution never had a place among the effects. */
export const NOT_PLACED = -1

/** Its links belong to the lists that it is in. */
export interface Execution extends Linked<Execution>, Queued<Execution> {
  readonly id: number
  readonly node: SensorNode | ActuatorNode
  readonly invocation: number
  readonly origin: Origin
  readonly via: Link | null
  /** number of the input and place in it: with task and run the id of the effect */
  readonly input: number
  readonly place: number
  phase: Phase
  wakeAt: number
  /** ms by which the clock is ahead of `wakeAt`, when that is of the task's own time */
  wakeLag: number
  /** failed attempts so far */
  attempt: number
  /** how often the plug was called for it: tells a late answer from the present one */
  calls: number
  held: Answer | null
  /** loopDef: all items, and the one at hand */
  items: readonly unknown[] | null
  item: number
  resumed: boolean
  /** of a sensor: its news when its plug was called, and how many late readings it could see */
  news: readonly string[]
  late: number
  /** what its calls see of the task, a run of it; null: the task as it is */
  seen: object | null
  /** its plug is at work, and the engine counts it among its open calls */
  isOpen: boolean
  /** properties of each item, made when it fired; secrets stand in them by name. Null: they are made by the call */
  rendered: readonly Readonly<Record<string, unknown>>[] | null
  /** what its calls touch, once it has its place among the effects; null before */
  touches: readonly string[] | null
  /**
   * epoch ms of the input at hand when it took its place, `NOT_PLACED` before; stays when it has left it. A result that was
   * held back moves it to its own time
   */
  placedAt: number
}

/** The evaluation of one input: the nodes still to visit, and the nodes that it touched. */
export interface Evaluation {
  readonly invocation: number
  /** root sensors that the input runs, with what began each */
  readonly selected: Map<SensorNode, Origin>
  /** sensors of which a result, a resume or an item of a loop is due in it */
  readonly due: Set<SensorNode>
  /** positions in the order of evaluation, ascending */
  readonly agenda: number[]
  readonly touched: Map<ObservableNode, Touch>
}

/** What an input did with a node, and what it goes back to. */
export interface Touch {
  readonly invocation: number
  readonly origin: Origin
  readonly via: Link | null
  /** it showed a state, or was decided */
  readonly isObserved: boolean
  /** it ran without an error */
  readonly hasSucceeded: boolean
}

/** A result that follows unless the node runs again before. */
export interface Follow {
  readonly at: number
  /** ms by which the clock is ahead of `at` */
  readonly lag: number
  readonly answer: Answer
  readonly invocation: number
  readonly origin: Origin
  readonly via: Link | null
}

/** Values of the messages of one resource. */
export interface Stream {
  values: Readonly<Record<string, unknown>>
  at: number
  /** values of earlier messages that the last one did not repeat */
  carried: Map<string, { value: unknown; until: number }> | null
  /** earlier messages of the same time */
  same?: readonly KnownReading[]
}

/** The states of all nodes of a task. */
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

/** The name of a node's state, null when unknown. */
export function stateName(node: SensorNode | GateNode, state: number): string | null {
  return node.states[state] ?? null
}
