/** Defines the compiled form of a rule; immutable, and shared by all rules that differ only in properties. */
import type { CompiledValue } from '../language/placeholders/value.ts'
import type { ResourceSpec } from '../language/placeholders/resource.ts'
import type { Needs, Path } from '../language/placeholders/scope.ts'
import type { DowntimePolicy } from '../plug/downtime.ts'
import type { Plug } from '../plug/plug.ts'
import type { Group, RelationType, RuleGraph } from '../rule/rule.ts'

/** Marks an unknown state. Known states are indexes of the node's `states`. */
export const UNKNOWN = -1
export const TRUE = 0
export const FALSE = 1
export const GATE_STATES = ['TRUE', 'FALSE'] as const

export interface PlugCall {
  readonly plug: Plug
  /** index of the call among the calls of a rule: sensors, then actuators */
  readonly index: number
  /** true: the properties are the same for every call */
  readonly isConstant: boolean
  /** paths that the call's properties, loop and code read */
  readonly uses: readonly Path[]
  /** values to fetch before a call; undefined: none */
  readonly needs: Needs | undefined
  readonly timeoutMs: number
  /** values of the message that a call reads, if it reads nothing else and may therefore begin before its turn */
  readonly ahead: readonly string[] | undefined
  /** true: acting calls do not wait for earlier calls on the same thing */
  readonly unordered: boolean
  readonly retry: Retry | undefined
  readonly loop: CompiledValue | undefined
  readonly pauseMs: number | undefined
}

export interface Retry {
  readonly maxRetries: number
  readonly minBackoffMs: number
  readonly maxBackoffMs: number
  /** index of the state that the node gets when the last retry failed, or UNKNOWN */
  readonly errorState: number
}

interface NodeBase {
  readonly label: string
  /** sensors whose properties or code read this node's data */
  readonly readers: readonly SensorNode[]
  readonly slot: number
  /** index in `graph.groups` of the group whose members the node observes or acts for; -1: none */
  readonly group: number
}

interface RunnableNode extends NodeBase {
  /** index of the group whose members' messages the node gets; -1: none. Differs from `group` for a gathering sensor */
  readonly observes: number
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
  readonly onData: boolean
  /** message values that the sensor reads; undefined: runs on every message */
  readonly parameters: readonly string[] | undefined
  /** channel whose messages alone run the sensor; undefined: an ordinary sensor */
  readonly channel: string | undefined
  readonly pollingPeriod: number | undefined
  readonly pollingFixedRate: boolean
  readonly schedule: string | undefined
  /** ms after which observations expire; Infinity: never */
  readonly evictionTime: number
  readonly downtime: DowntimePolicy | undefined
  /** replaces missing values of messages; undefined: an input is missing after the validity of streams */
  readonly inputs: MissingInputs | undefined
  /** true: raw data stays when the observation expires */
  readonly keepRawData: boolean
  readonly timeoutState: number
  /** gates that depend on the sensor, parents before children */
  readonly gates: readonly GateNode[]
  /** triggers of this sensor and of its gates, in order of declaration */
  readonly triggers: readonly TriggerEdge[]
  readonly followers: readonly GraphNode[]
  readonly reads: readonly GraphNode[]
}

export interface MissingInputs {
  /** ms for which the last known value of an input counts, by its name */
  readonly hold: ReadonlyMap<string, number>
  /** value of an input that is not known, by its name */
  readonly defaults: ReadonlyMap<string, unknown>
}

export interface GateNode extends NodeBase {
  readonly kind: 'gate'
  readonly index: number
  readonly type: RelationType
  readonly states: readonly string[]
  readonly parents: readonly ObservableNode[]
  /** rows with one wanted state per parent */
  readonly rows: readonly (readonly number[])[]
  /** except for GENERAL: the wanted state of each parent, from the first row */
  readonly inputs: readonly GateInput[]
  /** for GENERAL: each row encoded as one number, with a digit per parent */
  readonly rowKeys: ReadonlySet<number>
  /** for COUNT and SHARE: limits of the number of parents, or of members, in their states; otherwise undefined */
  readonly limits: CountLimits | undefined
  /** for COUNT and SHARE over members of a group; otherwise undefined */
  readonly counts: MemberCount | undefined
  readonly followers: readonly GraphNode[]
}

export interface MemberCount {
  /** index in `graph.groups` */
  readonly group: number
  /** index among the relations that count members of the group */
  readonly place: number
  readonly parent: ObservableNode
  readonly wanted: number
  /** ms for which a member counts after an observation of the wanted state; Infinity: while it is in that state */
  readonly withinMs: number
  /** ms for which a member counts after its last observation; Infinity: forever */
  readonly freshMs: number
}

/** A set of resources, and the nodes that have one state per member. */
export interface GroupNode {
  readonly spec: Group
  /** the canonical text of `spec` */
  readonly key: string
  readonly sensors: readonly SensorNode[]
  readonly gates: readonly GateNode[]
  readonly actuators: readonly ActuatorNode[]
  /** sensors with one state for all members */
  readonly gathering: readonly SensorNode[]
  /** relations that count members */
  readonly counts: readonly GateNode[]
  /** what a message of a member runs */
  readonly dataPlan: DataPlan
  /** sensors that report missing data, which a new member runs */
  readonly atJoin: readonly SensorNode[]
}

export interface CountLimits {
  /** a number, or for SHARE a share from 0 to 1 */
  readonly atLeast: number
  readonly atMost: number
}

export interface GateInput {
  /** index of the parent among sensors and gates */
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
  /** the source and the sensors and gates that it depends on, parents before children */
  readonly behind: readonly ObservableNode[]
  readonly destination: DestinationNode
  /** states that the trigger accepts, by state index of the source; undefined: any state */
  readonly states: readonly boolean[] | undefined
  readonly change: { readonly from: number; readonly to: number } | undefined
  /** set of states, by state index: fires once when the source enters the set */
  readonly begins: readonly boolean[] | undefined
  /** set of states, by state index: fires once when the source leaves the set */
  readonly ends: readonly boolean[] | undefined
  /** cool-down of the destination in ms */
  readonly policyMs: number
}

/** The wildcard `*` in a state change. */
export const ANY = -2

export interface Plan {
  readonly sensors: readonly SensorNode[]
  readonly reset: readonly SensorNode[]
  /** gates whose inputs the reset makes unknown, parents before children */
  readonly resetGates: readonly GateNode[]
}

/** Plan of a message for one resource; by default it runs all of its sensors. */
export interface DataPlan extends Plan {
  /** returns the plan without sensors that need values which the message lacks */
  partFor(message: Readonly<Record<string, unknown>>): Plan
}

export type ChannelPlans = ReadonlyMap<string, readonly Plan[]>

export const NO_CHANNELS: ChannelPlans = new Map()

export interface EvaluationOrder {
  readonly nodes: readonly GraphNode[]
  readonly positions: Int32Array
}

export interface EvaluationOrders {
  readonly parallel: EvaluationOrder
  readonly serial: EvaluationOrder
}

export interface Graph {
  /** the longest ms for which a sensor holds an input, by its name; undefined: no sensor has `hold` or `default` */
  readonly held: ReadonlyMap<string, number> | undefined
  /** the nodes without properties, since each rule has its own properties */
  readonly outline: Pick<RuleGraph, 'sensors' | 'actuators'>
  readonly sensors: readonly SensorNode[]
  readonly gates: readonly GateNode[]
  readonly actuators: readonly ActuatorNode[]
  readonly byLabel: ReadonlyMap<string, GraphNode>
  readonly triggers: readonly TriggerEdge[]
  readonly orders: EvaluationOrders
  readonly resources: readonly { readonly text: string; readonly spec: ResourceSpec }[]
  readonly resourceIndex: readonly number[]
  readonly groups: readonly GroupNode[]
  readonly tickPlan: Plan
  /** plans for messages, by index in `resources` */
  readonly dataPlans: readonly DataPlan[]
  /** plans for messages on channels, by channel, then by index in `resources` */
  readonly channelPlans: ChannelPlans
}
