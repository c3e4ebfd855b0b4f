/**
 * What a task remembers between inputs. Small, plain, and changed only by step.ts and the files it calls; save.ts
 * turns it into JSON and back. Times are epoch ms of the engine's clock.
 */
import {
  UNKNOWN,
  type ActuatorNode,
  type GateNode,
  type Graph,
  type SensorNode,
  type TriggerEdge,
} from '../graph/graph.ts'
import type { Answer } from '../plug/result.ts'
import { CallQueue, InFlight, type Linked, type Queued } from './execution-lists.ts'
import type { Origin } from './origin.ts'

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

/** Enough of a firing to tell why, later. */
export interface Firing {
  readonly trigger: TriggerEdge
  readonly time: number
  readonly invocation: number
  /** number of the input and place in it: with task and run the id of the effect */
  readonly input: number
  readonly place: number
  readonly matched: 'state' | 'change' | 'execution'
  readonly from: number
  readonly to: number
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
  readonly reason: 'invocationPolicy' | 'overlap' | 'queue'
  readonly time: number
  readonly until: number | undefined
  readonly trigger: TriggerEdge
}

/**
 * queued: waits for its call. called: the plug has it. holding: a result waits for its time.
 * retrying: waits for the next attempt. paused: waits for a resume.
 */
export type Phase = 'queued' | 'called' | 'holding' | 'retrying' | 'paused'

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
  readonly group: Group | null
  phase: Phase
  wakeAt: number
  /** failed attempts so far */
  attempt: number
  /** how often the plug was called for it: tells a late answer from the present one */
  calls: number
  held: Answer | null
  /** loopDef: all items, and the one at hand */
  items: readonly unknown[] | null
  item: number
  resumed: boolean
}

/** Sequence groups of one invocation that are not done yet. */
export interface Group {
  readonly id: number
  readonly invocation: number
  readonly groups: readonly (readonly SensorNode[])[]
  /** the group at work */
  position: number
  /** executions of it that have not ended */
  open: number
  /** what began the invocation: one entry, or one per resource of a data array */
  readonly origins: readonly Origin[]
}

/** A result that follows unless the node runs again before. */
export interface Follow {
  readonly at: number
  readonly answer: Answer
  readonly invocation: number
  readonly origin: Origin
  readonly via: Link | null
}

/** A tick that waits for earlier work; without a node it is the task's. */
export interface WaitingTick {
  readonly node: SensorNode | null
  readonly at: number
}

/** Values of the messages of one resource. */
export interface Stream {
  values: Readonly<Record<string, unknown>>
  at: number
  /** values of earlier messages that the last one did not repeat */
  carried: Map<string, { value: unknown; until: number }> | null
}

export interface TaskState {
  status: TaskStatus
  /** how often it was started */
  run: number
  /** inputs taken in this run */
  inputs: number
  /** effects begun by the input at hand */
  effects: number
  invocations: number
  executions: number
  startTime: number
  lastExecutionTime: number
  finishedTime: number
  nextTickAt: number
  /** ticks that wait for the work of an earlier one */
  waitingTicks: WaitingTick[]
  /** occurrences that were missed and left out */
  skippedTicks: number
  /** when this state was restored; occurrences before were missed. -Infinity: never */
  restoredAt: number
  seed: number
  /** invocations with a failed execution, among the last 64 */
  failures: number[]
  sensors: SensorState[]
  gates: GateState[]
  actuators: ActuatorState[]
  /** sensors, then gates: the same objects by node index */
  observed: Observed[]
  /** by place in `model.resources` */
  streams: (Stream | null)[]
  /** everything in flight, oldest first */
  readonly inFlight: InFlight<Execution>
  groups: Group[]
  /** executions to call next: those of triggers before those of groups */
  readonly cascades: CallQueue<Execution>
  readonly roots: CallQueue<Execution>
}

/** A task that never ran. */
export function emptyState(graph: Graph, resourceCount: number): TaskState {
  const state: TaskState = {
    status: 'stopped',
    run: 0,
    inputs: 0,
    effects: 0,
    invocations: 0,
    executions: 0,
    startTime: -1,
    lastExecutionTime: -1,
    finishedTime: -1,
    nextTickAt: Number.POSITIVE_INFINITY,
    waitingTicks: [],
    skippedTicks: 0,
    restoredAt: Number.NEGATIVE_INFINITY,
    seed: 0,
    failures: [],
    sensors: [],
    gates: [],
    actuators: [],
    observed: [],
    streams: [],
    inFlight: new InFlight(),
    groups: [],
    cascades: new CallQueue(),
    roots: new CallQueue(),
  }
  forgetNodes(state, graph, resourceCount)
  return state
}

/** Fresh node states: nothing observed, nothing fired, nothing in flight. Counters stay. */
export function forgetNodes(state: TaskState, graph: Graph, resourceCount: number): void {
  state.sensors = graph.sensors.map(() => freshSensor())
  state.gates = graph.gates.map(() => freshGate())
  state.actuators = graph.actuators.map(() => ({
    firedAt: Number.NEGATIVE_INFINITY,
    firing: null,
    held: null,
    error: null,
    answer: null,
  }))
  state.observed = [...state.sensors, ...state.gates]
  state.streams = Array.from({ length: resourceCount }, () => null)
  state.nextTickAt = Number.POSITIVE_INFINITY
  state.waitingTicks = []
  state.inFlight.clear()
  state.groups = []
  state.cascades.clear()
  state.roots.clear()
}

function freshGate(): GateState {
  return { state: UNKNOWN, memory: UNKNOWN, previous: UNKNOWN, before: UNKNOWN, since: -1, lost: -1 }
}

function freshSensor(): SensorState {
  return {
    state: UNKNOWN,
    memory: UNKNOWN,
    previous: UNKNOWN,
    before: UNKNOWN,
    since: -1,
    lost: -1,
    firedAt: Number.NEGATIVE_INFINITY,
    firing: null,
    held: null,
    error: null,
    collectedTime: -1,
    rawData: undefined,
    internalState: undefined,
    evictAt: Number.POSITIVE_INFINITY,
    origin: null,
    via: null,
    running: null,
    follow: null,
    ownTickAt: Number.POSITIVE_INFINITY,
  }
}

// A node's slot always lies inside its kind's list: both come from the same graph.
export function sensorState(state: TaskState, node: SensorNode): SensorState {
  return state.sensors[node.slot] as SensorState
}
export function observedState(state: TaskState, node: SensorNode | GateNode): Observed {
  return state.observed[node.index] as Observed
}
export function actuatorState(state: TaskState, node: ActuatorNode): ActuatorState {
  return state.actuators[node.slot] as ActuatorState
}
export function destinationState(state: TaskState, node: SensorNode | ActuatorNode): Destination {
  return node.kind === 'sensor' ? sensorState(state, node) : actuatorState(state, node)
}

/** The name of a node's state, null when unknown. */
export function stateName(node: SensorNode | GateNode, state: number): string | null {
  return node.states[state] ?? null
}
