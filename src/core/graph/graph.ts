/**
 * A rule made ready to run: labels resolved to objects, states to small numbers, triggers sorted by what they wait
 * for. Never changed, and shared by all tasks of all rules that differ in nothing but properties (rule-properties.ts).
 */
import type { CompiledValue } from '../language/placeholders/value.ts'
import type { ResourceSpec } from '../language/placeholders/resource.ts'
import type { Needs, Path } from '../language/placeholders/scope.ts'
import type { DowntimePolicy } from '../plug/downtime.ts'
import type { Plug } from '../plug/plug.ts'
import type { RelationType, RuleGraph } from '../rule/rule.ts'

/** A state that is not known. Known states are indexes into the node's `states`. */
export const UNKNOWN = -1
/** Indexes into GATE_STATES. */
export const TRUE = 0
export const FALSE = 1
export const GATE_STATES = ['TRUE', 'FALSE'] as const

/** How a node calls its plug. */
export interface PlugCall {
  readonly plug: Plug
  /** of its properties among those of a rule: sensors, then actuators */
  readonly place: number
  /** none of its properties depends on the moment */
  readonly isConstant: boolean
  /** what its properties, loop and code read */
  readonly uses: readonly Path[]
  /** what must be fetched before a call; undefined when nothing is */
  readonly needs: Needs | undefined
  readonly timeoutMs: number
  /** values of the message that a call reads, when it reads nothing else and may begin before its turn; else undefined */
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
  /** index of the state observed when the last retry failed, UNKNOWN for none */
  readonly errorState: number
}

interface NodeBase {
  readonly label: string
  /** sensors that read its data by their properties or code */
  readonly readers: readonly SensorNode[]
  /** place in its own kind's list */
  readonly slot: number
}

interface RunnableNode extends NodeBase {
  readonly call: PlugCall
  /** triggers to it, as declared */
  readonly incoming: readonly TriggerEdge[]
  /** place in `graph.resources`, -1 for none */
  readonly resource: number
}

export interface SensorNode extends RunnableNode {
  readonly kind: 'sensor'
  /** place among sensors and gates together; equals slot */
  readonly index: number
  readonly states: readonly string[]
  readonly sequence: number
  /** destination of a trigger */
  readonly conditional: boolean
  readonly onTick: boolean
  /** broker data runs it */
  readonly onData: boolean
  /**
   * names of the values that it reads of messages: as a root it runs on those that have one of them themselves;
   * undefined: on every message, since it reads none, or what it reads cannot be told
   */
  readonly parameters: readonly string[] | undefined
  /** messages on that channel run it, and nothing else that arrives; undefined: an ordinary sensor */
  readonly channel: string | undefined
  /** ms; undefined without a period of its own */
  readonly pollingPeriod: number | undefined
  readonly pollingFixedRate: boolean
  readonly schedule: string | undefined
  /** ms; Infinity when the observation is kept */
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
  /** gates over it and destinations of its triggers */
  readonly followers: readonly GraphNode[]
  /** other nodes whose data it reads, as far as that is known */
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
  /** the first row next to its parents, for AND, OR and NAND */
  readonly inputs: readonly GateInput[]
  /** GENERAL: every row as one number, parents as digits */
  readonly rowKeys: ReadonlySet<number>
  /** gates over it and destinations of its triggers */
  readonly followers: readonly GraphNode[]
}

export interface GateInput {
  /** place of the parent among sensors and gates */
  readonly index: number
  readonly wanted: number
  /** how many states the parent has */
  readonly size: number
}

export interface ActuatorNode extends RunnableNode {
  readonly kind: 'actuator'
}

export type ObservableNode = SensorNode | GateNode
export type DestinationNode = SensorNode | ActuatorNode
export type GraphNode = SensorNode | GateNode | ActuatorNode

export interface TriggerEdge {
  /** place in the rule's `triggers` */
  readonly order: number
  readonly source: ObservableNode
  /** the sensors and gates that the source depends on, itself included, parents before children */
  readonly behind: readonly ObservableNode[]
  readonly destination: DestinationNode
  /** by state index of the source; undefined when states do not matter */
  readonly states: readonly boolean[] | undefined
  readonly change: { readonly from: number; readonly to: number } | undefined
  /** by state index of the source: fires once when the source enters the set */
  readonly begins: readonly boolean[] | undefined
  /** by state index of the source: fires once when the source leaves the set */
  readonly ends: readonly boolean[] | undefined
  /** ms during which the destination does not fire again */
  readonly policyMs: number
}

/** `*` in a state change. */
export const ANY = -2

/** Which sensors an invocation runs, and which observations it forgets first. */
export interface Plan {
  readonly sensors: readonly SensorNode[]
  /** what runs and all that may follow from it */
  readonly reset: readonly SensorNode[]
  /** gates that lose an input by the reset, parents before children */
  readonly resetGates: readonly GateNode[]
}

/** What messages for one resource run: as a plan, all of it. */
export interface DataPlan extends Plan {
  /** what a message runs: without the sensors that wait for values which it does not have itself */
  partFor(message: Readonly<Record<string, unknown>>): Plan
}

export type ChannelPlans = ReadonlyMap<string, readonly Plan[]>

/** Most rules have no sensor that hears a channel. */
export const NO_CHANNELS: ChannelPlans = new Map()

/** All nodes, in the order in which an input goes through them. */
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
  /** what the nodes say besides their properties, which each rule has of its own */
  readonly outline: Pick<RuleGraph, 'sensors' | 'actuators'>
  readonly sensors: readonly SensorNode[]
  /** parents before children */
  readonly gates: readonly GateNode[]
  readonly actuators: readonly ActuatorNode[]
  readonly byLabel: ReadonlyMap<string, GraphNode>
  readonly triggers: readonly TriggerEdge[]
  readonly orders: EvaluationOrders
  /** distinct resource texts of the nodes */
  readonly resources: readonly { readonly text: string; readonly spec: ResourceSpec }[]
  /** the place of each in a task's list of resources, when no two of them are one */
  readonly resourcePlace: readonly number[]
  readonly tickPlan: Plan
  /** what data runs, by place in `resources` */
  readonly dataPlans: readonly DataPlan[]
  /** the same for messages on channels, by name of the channel */
  readonly channelPlans: ChannelPlans
}
