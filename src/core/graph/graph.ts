/**
 * Compiled rule: labels resolved to objects, states to small numbers, triggers sorted by source. Immutable, and shared
 * by all tasks of all rules that differ only in properties (rule-properties.ts).
 */
import type { CompiledValue } from '../language/placeholders/value.ts'
import type { ResourceSpec } from '../language/placeholders/resource.ts'
import type { Needs, Path } from '../language/placeholders/scope.ts'
import type { DowntimePolicy } from '../plug/downtime.ts'
import type { Plug } from '../plug/plug.ts'
import type { RelationType, RuleGraph } from '../rule/rule.ts'

/** Unknown state. Known states are indexes into the node's `states`. */
export const UNKNOWN = -1
export const TRUE = 0
export const FALSE = 1
export const GATE_STATES = ['TRUE', 'FALSE'] as const

export interface PlugCall {
  readonly plug: Plug
  /** index of its properties among those of a rule: sensors, then actuators */
  readonly place: number
  /** all properties are independent of the moment */
  readonly isConstant: boolean
  /** paths that its properties, loop and code read */
  readonly uses: readonly Path[]
  /** values to fetch before a call; undefined: none */
  readonly needs: Needs | undefined
  readonly timeoutMs: number
  /** values of the message that a call reads, when it reads nothing else and may begin before its turn */
  readonly ahead: readonly string[] | undefined
  /** calls that act do not wait for earlier ones on the same thing */
  readonly unordered: boolean
  readonly retry: Retry | undefined
  readonly loop: CompiledValue | undefined
  /** ms to wait for a resume; undefined: does not pause */
  readonly pauseMs: number | undefined
}

export interface Retry {
  readonly maxRetries: number
  readonly minBackoffMs: number
  readonly maxBackoffMs: number
  /** index of the state observed when the last retry failed, or UNKNOWN */
  readonly errorState: number
}

interface NodeBase {
  readonly label: string
  /** sensors whose properties or code read its data */
  readonly readers: readonly SensorNode[]
  readonly slot: number
}

interface RunnableNode extends NodeBase {
  readonly call: PlugCall
  readonly incoming: readonly TriggerEdge[]
  /** index in `graph.resources`, -1 for none */
  readonly resource: number
}

export interface SensorNode extends RunnableNode {
  readonly kind: 'sensor'
  readonly index: number
  readonly states: readonly string[]
  readonly sequence: number
  readonly conditional: boolean
  readonly onTick: boolean
  /** runs on broker data */
  readonly onData: boolean
  /**
   * names of the message values that it reads: as a root it runs on messages that have at least one of them;
   * undefined: runs on every message, since it reads none, or its reads are unknown
   */
  readonly parameters: readonly string[] | undefined
  /** runs only on messages of this channel; undefined: an ordinary sensor */
  readonly channel: string | undefined
  readonly pollingPeriod: number | undefined
  readonly pollingFixedRate: boolean
  readonly schedule: string | undefined
  /** ms; Infinity: observations do not expire */
  readonly evictionTime: number
  /** undefined: as the task or the plug says */
  readonly downtime: DowntimePolicy | undefined
  /** raw data outlives the observation */
  readonly keepRawData: boolean
  readonly timeoutState: number
  /** gates that depend on it, parents before children */
  readonly gates: readonly GateNode[]
  /** triggers of this sensor and of its gates, as declared */
  readonly triggers: readonly TriggerEdge[]
  readonly followers: readonly GraphNode[]
  /** other nodes whose data it reads, as far as known */
  readonly reads: readonly GraphNode[]
}

export interface GateNode extends NodeBase {
  readonly kind: 'gate'
  readonly index: number
  readonly type: RelationType
  readonly states: readonly string[]
  readonly parents: readonly ObservableNode[]
  /** one wanted state per parent and row */
  readonly rows: readonly (readonly number[])[]
  /** the first row with its parents, for AND, OR and NAND */
  readonly inputs: readonly GateInput[]
  /** GENERAL: each row as one number, parents as digits */
  readonly rowKeys: ReadonlySet<number>
  readonly followers: readonly GraphNode[]
}

export interface GateInput {
  /** of the parent among sensors and gates */
  readonly index: number
  readonly wanted: number
  readonly size: number
}

export interface ActuatorNode extends RunnableNode {
  readonly kind: 'actuator'
}

export type ObservableNode = SensorNode | GateNode
export type DestinationNode = SensorNode | ActuatorNode
export type GraphNode = SensorNode | GateNode | ActuatorNode

export interface TriggerEdge {
  readonly order: number
  readonly source: ObservableNode
  /** sensors and gates that the source depends on, itself included, parents before children */
  readonly behind: readonly ObservableNode[]
  readonly destination: DestinationNode
  /** by state index of the source; undefined: any state */
  readonly states: readonly boolean[] | undefined
  readonly change: { readonly from: number; readonly to: number } | undefined
  /** by state index of the source: fires once when the source enters the set */
  readonly begins: readonly boolean[] | undefined
  /** by state index of the source: fires once when the source leaves the set */
  readonly ends: readonly boolean[] | undefined
  /** ms of cool-down of the destination */
  readonly policyMs: number
}

/** `*` in a state change. */
export const ANY = -2

/** Sensors that an invocation runs, and observations that it resets first. */
export interface Plan {
  readonly sensors: readonly SensorNode[]
  readonly reset: readonly SensorNode[]
  /** gates that lose an input by the reset, parents before children */
  readonly resetGates: readonly GateNode[]
}

/** Plan of a message for one resource: by default all of it. */
export interface DataPlan extends Plan {
  /** the plan without sensors that need values which the message lacks */
  partFor(message: Readonly<Record<string, unknown>>): Plan
}

export type ChannelPlans = ReadonlyMap<string, readonly Plan[]>

export const NO_CHANNELS: ChannelPlans = new Map()

export interface EvaluationOrder {
  readonly nodes: readonly GraphNode[]
  /** by `idOf` a node */
  readonly positions: Int32Array
}

/** For tasks with and without `parallel`. */
export interface EvaluationOrders {
  readonly parallel: EvaluationOrder
  readonly serial: EvaluationOrder
}

export interface Graph {
  /** the nodes without properties, which each rule has of its own */
  readonly outline: Pick<RuleGraph, 'sensors' | 'actuators'>
  readonly sensors: readonly SensorNode[]
  readonly gates: readonly GateNode[]
  readonly actuators: readonly ActuatorNode[]
  readonly byLabel: ReadonlyMap<string, GraphNode>
  readonly triggers: readonly TriggerEdge[]
  readonly orders: EvaluationOrders
  readonly resources: readonly { readonly text: string; readonly spec: ResourceSpec }[]
  /** index of each in a task's list of resources, when all of them differ */
  readonly resourcePlace: readonly number[]
  readonly tickPlan: Plan
  /** by index in `resources` */
  readonly dataPlans: readonly DataPlan[]
  /** by channel, then by index in `resources` */
  readonly channelPlans: ChannelPlans
}
