/** Defines what a task remembers of its nodes and its work between inputs; times are epoch ms of the engine's clock. */
import type { ActuatorNode, GateNode, ObservableNode, SensorNode, TriggerEdge } from '../graph/graph.ts'
import type { WhyMembers } from '../engine/events.ts'
import type { Answer } from '../plug/result.ts'
import type { Linked, Queued } from './execution-lists.ts'
import type { Message, Origin } from './origin.ts'
import type { KnownReading, LastProcessed } from './readings/reading.ts'

export type TaskStatus = 'running' | 'stopped' | 'failed'

export interface Observed {
  /** index of the state that is known for certain, or UNKNOWN */
  state: number
  /** last known state; survives a reset, but not an eviction */
  memory: number
  previous: number
  /** like `previous`; if that state was unknown, the last known state */
  before: number
  since: number
  lost: number
}

export interface Destination {
  firedAt: number
  firing: Firing | null
  held: Held | null
  /** `HAS_BEGUN` and `MAY_END` bits of each trigger to this node, in order; empty until a bit is set */
  edges: readonly number[]
  error: { time: number; message: string } | null
}

export interface SensorState extends Observed, Destination {
  /** time of the last successful execution or push, -1 before the first */
  collectedTime: number
  rawData: Readonly<Record<string, unknown>> | undefined
  internalState: unknown
  evictAt: number
  origin: Origin | null
  via: Link | null
  running: Execution | null
  follow: Follow | null
  ownTickAt: number
  /** stamped messages that the sensor processed last */
  taken: LastProcessed | null
  /** labels of nodes that the sensor reads and that succeeded since it last succeeded */
  news: readonly string[]
  /** late readings for a plug that absorbs them; an unfinished call can see the first `late` readings */
  late: readonly Message[]
  /** ms by which the clock was ahead at the observation that ends at `evictAt` */
  evictLag: number
}

export type GateState = Observed

export interface ActuatorState extends Destination {
  answer: { message?: string; rawData?: unknown; collectedTime: number } | null
}

/** How an execution came about: the trigger that fired it, and the link before. */
export interface Link {
  readonly trigger: TriggerEdge
  readonly time: number
  readonly earlier: Link | null
}

/** HAS_BEGUN: fired since the source entered the `begins` set; MAY_END: the source was in the `ends` set. */
export const HAS_BEGUN = 1
export const MAY_END = 2

export type Match = 'state' | 'change' | 'begins' | 'ends' | 'execution'

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
  /** number of the input and position in that input; together with task and run they form the effect's id */
  readonly input: number
  readonly indexInInput: number
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
  /** of a relation that counts members of a group: who decided it */
  readonly members?: WhyMembers
}

export interface Held {
  readonly reason: 'invocationPolicy' | 'overlap'
  readonly time: number
  readonly until: number | undefined
  readonly trigger: TriggerEdge
}

/**
 * behind: an earlier call touches the same thing. holding: a result waits for its time. looping: the next item waits.
 */
export type Phase = 'queued' | 'rendering' | 'behind' | 'called' | 'holding' | 'retrying' | 'paused' | 'looping'

export const NOT_PLACED = -1

/** Its links belong to the lists that contain it. */
export interface Execution extends Linked<Execution>, Queued<Execution> {
  readonly id: number
  readonly node: SensorNode | ActuatorNode
  readonly invocation: number
  readonly origin: Origin
  readonly via: Link | null
  /** the member of the node's group for which it runs; null: the node has no group */
  readonly member: string | null
  readonly input: number
  readonly indexInInput: number
  phase: Phase
  wakeAt: number
  /** ms by which the clock is ahead of `wakeAt`, if `wakeAt` is in the task's own time */
  wakeLag: number
  attempt: number
  /** number of its calls, which distinguishes a late result from that of the current call */
  calls: number
  held: Answer | null
  /** loopDef: all items, and the index of the current one */
  items: readonly unknown[] | null
  item: number
  resumed: boolean
  /** for a sensor: labels of its news at the call, and how many late readings the call could see */
  news: readonly string[]
  late: number
  /** the snapshot that its calls see; null: the current task */
  seen: object | null
  isOpen: boolean
  /** properties of each item, created when it fired, which refer to secrets by name. Null: the call creates them */
  rendered: readonly Readonly<Record<string, unknown>>[] | null
  /** things that its calls touch; set once it has a place among the effects */
  touches: readonly string[] | null
  /** epoch ms of the input, `NOT_PLACED` before; a delayed result changes it to the result's own time */
  placedAt: number
}

export interface Evaluation {
  readonly invocation: number
  readonly selected: Map<SensorNode, Origin>
  /** sensors with a due result, resume or loop item */
  readonly due: Set<SensorNode>
  readonly agenda: number[]
  readonly touched: Map<ObservableNode, Touch>
  /** relations that count members, to be decided even if no parent was touched */
  readonly counting: Map<GateNode, Origin>
}

export interface Touch {
  readonly invocation: number
  readonly origin: Origin
  readonly via: Link | null
  /** the node showed a state, or was decided */
  readonly isObserved: boolean
  /** the node ran without an error */
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
  /** values of earlier messages that the last message did not repeat */
  carried: Map<string, { value: unknown; until: number }> | null
  same?: readonly KnownReading[]
}

export interface NodeStates {
  readonly sensors: readonly SensorState[]
  readonly gates: readonly GateState[]
  readonly actuators: readonly ActuatorState[]
  /** sensors, then gates, by node index; the objects are those of the other lists */
  readonly observed: readonly Observed[]
}

// A node's slot always lies inside the list of its kind: both come from the same graph.
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
