/** Compiles a rule that validateRule accepted to a graph. */
import { AppError, durationMs } from '#kernel'
import { compileValue, type CompiledValue } from '../language/placeholders/value.ts'
import { messageNames, readsOf } from '../language/expression/message-names.ts'
import { codedUses, namesRead } from '../language/expression/names-read.ts'
import { needsOf } from '../language/placeholders/needs.ts'
import { parseResource } from '../language/placeholders/resource.ts'
import type { Needs, Path } from '../language/placeholders/scope.ts'
import type { Plug, PlugKind, PlugRegistry } from '../plug/plug.ts'
import { plugOfNode } from '../plug/plug-of-node.ts'
import { finishProperties } from '../plug/properties.ts'
import type { Actuator, PlugNode, Relation, RetryConfig, RuleGraph, Sensor, Trigger } from '../rule/rule.ts'
import { nodesBehind } from './behind.ts'
import { evaluationOrders } from './evaluation-order.ts'
import { makeDataPlan } from './data-plan.ts'
import { readsOfMessage } from './reads-message.ts'
import { parentsFirst } from './order.ts'
import { propertiesIn, nodeProperties, RuleProperties, type NodeProperties } from './rule-properties.ts'
import { GroupTable } from './groups.ts'
import { channelPlans, makePlan } from './plan.ts'
import {
  ANY,
  GATE_STATES,
  UNKNOWN,
  type ActuatorNode,
  type CountLimits,
  type GateNode,
  type Graph,
  type GraphNode,
  type MissingInputs,
  type ObservableNode,
  type PlugCall,
  type Retry,
  type SensorNode,
  type TriggerEdge,
} from './graph.ts'

const DEFAULT_TIMEOUT_MS = 50_000
const DEFAULT_PAUSE_MS = 3_600_000

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] }

type MutableGate = GateNode & { readonly followers: GraphNode[]; readonly readers: SensorNode[] }

export interface CompiledRule {
  readonly graph: Graph
  readonly properties: RuleProperties
}

/** `streamVariables`: variables that a value of the message replaces. Throws `PLUG`, `VALIDATION`, `BINDING`. */
export function compileRule(
  rule: RuleGraph,
  plugs: PlugRegistry,
  streamVariables: readonly string[] = [],
): CompiledRule {
  const resources = new ResourceTable()
  const members = new GroupTable(rule, ({ name, version }) => plugs.find('sensor', name, version)?.gathers === 'group')
  const conditional = new Set((rule.triggers ?? []).map((trigger) => trigger.destinationLabel))
  const made: NodeProperties[] = []
  const callOf = (node: Sensor | Actuator, kind: PlugKind): CompiledCall => {
    const compiled = compileCall(node, requirePlug(plugs, kind, node), made.length, streamVariables)
    made.push(compiled.properties)
    return compiled
  }
  const sensors = (rule.sensors ?? []).map((sensor, slot) =>
    compileSensor(sensor, slot, callOf(sensor, 'sensor'), resources, conditional.has(sensor.label), members),
  )
  const byLabel = new Map<string, GraphNode>()
  for (const sensor of sensors) byLabel.set(sensor.label, sensor)
  const gates = compileGates(rule.relations ?? [], sensors.length, byLabel, members)
  const actuators = (rule.actuators ?? []).map((actuator, slot): Mutable<ActuatorNode> => {
    return {
      kind: 'actuator',
      label: actuator.label,
      slot,
      group: members.of(actuator.label),
      observes: members.of(actuator.label),
      call: callOf(actuator, 'actuator').call,
      incoming: [],
      resource: members.of(actuator.label) === -1 ? resources.index(actuator.resource) : -1,
      readers: [],
    }
  })
  for (const actuator of actuators) byLabel.set(actuator.label, actuator)
  const triggers = (rule.triggers ?? []).map((trigger, order) => compileTrigger(trigger, order, byLabel))
  attachAll({ sensors, gates, actuators }, triggers)
  attachReads([...sensors, ...gates, ...actuators], sensors)
  const graph: Graph = {
    held: longestHolds(sensors),
    outline: {
      sensors: (rule.sensors ?? []).map(withoutProperties),
      actuators: (rule.actuators ?? []).map(withoutProperties),
    },
    sensors,
    gates,
    actuators,
    byLabel,
    triggers,
    orders: evaluationOrders({ sensors, gates, actuators }, triggers),
    resources: resources.entries,
    resourceIndex: resources.entries.map((_, index) => index),
    groups: members.nodes({ sensors, gates, actuators }),
    tickPlan: makePlan(sensors.filter((sensor) => sensor.onTick)),
    dataPlans: resources.entries.map((_, index) =>
      makeDataPlan(sensors.filter((sensor) => sensor.onData && sensor.observes === -1 && sensor.resource === index)),
    ),
    channelPlans: channelPlans(sensors, resources.entries.length, (resource) => resource),
  }
  return { graph, properties: new RuleProperties(propertiesIn(rule), made) }
}

function withoutProperties<N extends PlugNode>(node: N): Omit<N, 'properties'> {
  const { properties: _properties, ...rest } = node
  return rest
}

class ResourceTable {
  readonly entries: { text: string; spec: ReturnType<typeof parseResource> }[] = []
  readonly #indexes = new Map<string, number>()

  index(text: string | undefined): number {
    if (text === undefined || text === '') return -1
    const known = this.#indexes.get(text)
    if (known !== undefined) return known
    this.#indexes.set(text, this.entries.length)
    return this.entries.push({ text, spec: parseResource(text) }) - 1
  }
}

function compileSensor(
  sensor: Sensor,
  slot: number,
  { call, parameters }: CompiledCall,
  resources: ResourceTable,
  conditional: boolean,
  members: GroupTable,
): Mutable<SensorNode> {
  const { plug } = call
  const { channel } = plug
  const hasClock = sensor.pollingPeriod !== undefined || sensor.schedule !== undefined
  // a sensor with a channel runs only on its messages, whatever the flags and clocks of the rule say
  const runsByItself = !conditional && channel === undefined
  const group = members.of(sensor.label)
  const observes = members.observedBy(sensor)
  const inputs = missingInputs(sensor)
  const bound = observes !== -1 || (sensor.resource !== undefined && sensor.resource !== '')
  return {
    kind: 'sensor',
    label: sensor.label,
    slot,
    index: slot,
    group,
    observes,
    // a call before its turn reads only its message
    call: inputs === undefined ? call : { ...call, ahead: undefined },
    incoming: [],
    resource: observes === -1 ? resources.index(sensor.resource) : -1,
    states: [...plug.states],
    sequence: sensor.sequence ?? 1,
    conditional,
    onTick: runsByItself && observes === -1 && !hasClock && sensor.tickTrigger !== false,
    // default true only for a root sensor: a triggered sensor with resource `$` is common and waits for its trigger
    onData:
      bound && channel === undefined && (conditional ? sensor.dataTrigger === true : sensor.dataTrigger !== false),
    parameters,
    channel,
    pollingPeriod: runsByItself ? sensor.pollingPeriod : undefined,
    pollingFixedRate: sensor.pollingFixedRate ?? true,
    schedule: runsByItself ? sensor.schedule : undefined,
    evictionTime: sensor.evictionTime ?? Number.POSITIVE_INFINITY,
    downtime: sensor.downtime,
    inputs,
    keepRawData: sensor.keepRawData ?? false,
    timeoutState: stateIndex(plug.states, sensor.timeoutState),
    gates: [],
    triggers: [],
    followers: [],
    reads: [],
    readers: [],
  }
}

function missingInputs({ hold = {}, default: defaults = {} }: Sensor): MissingInputs | undefined {
  const held = Object.entries(hold).map(([name, length]) => [name, durationMs(length)] as const)
  const values = Object.entries(defaults)
  return held.length + values.length === 0 ? undefined : { hold: new Map(held), defaults: new Map(values) }
}

function longestHolds(sensors: readonly SensorNode[]): ReadonlyMap<string, number> | undefined {
  const all = sensors.flatMap(({ inputs }) => (inputs === undefined ? [] : [...inputs.hold]))
  if (sensors.every(({ inputs }) => inputs === undefined)) return undefined
  const longest = new Map<string, number>()
  for (const [name, ms] of all) longest.set(name, Math.max(ms, longest.get(name) ?? 0))
  return longest
}

function requirePlug(plugs: PlugRegistry, kind: PlugKind, node: PlugNode): Plug {
  const plug = plugs.find(kind, node.name, node.version)
  if (plug) return plugOfNode(plug, node.properties)
  throw new AppError('PLUG', `Plugin ${node.name}:${node.version ?? 'latest'} not found for ${kind} ${node.label}`)
}

/** A compiled call. `parameters`: as `SensorNode.parameters`. */
export interface CompiledCall {
  readonly call: PlugCall
  readonly properties: NodeProperties
  readonly parameters: readonly string[] | undefined
}

export function compileCall(
  node: Sensor | Actuator,
  plug: Plug,
  index: number,
  streamVariables: readonly string[],
): CompiledCall {
  const properties = nodeProperties(plug, node.properties ?? {}, node.label)
  const { compiled, constant } = properties
  const loop = node.loopDef === undefined ? undefined : compileValue(node.loopDef)
  const values = constant ?? node.properties ?? {}
  const uses = [...compiled.uses, ...(loop?.uses ?? []), ...codedUses(plug, values)]
  const mayBeAhead = loop === undefined && node.pauseExecution !== true
  const call: PlugCall = {
    plug,
    index,
    isConstant: constant !== undefined,
    uses,
    needs: needsIn(uses),
    ahead: mayBeAhead ? readsOfMessage(plug, constant, uses) : undefined,
    timeoutMs: node.timeout === undefined ? DEFAULT_TIMEOUT_MS : durationMs(node.timeout),
    unordered: node.unordered ?? false,
    retry: retryOf(node.retryConfig ?? plug.retry, plug),
    loop,
    pauseMs: node.pauseExecution === true ? pauseLimit(node.pauseExecutionTimeout) : undefined,
  }
  const isSensor = plug.kind === 'sensor' && plug.channel === undefined
  return { call, properties, parameters: isSensor ? parametersOf(properties, loop, streamVariables) : undefined }
}

function parametersOf(
  { plug, compiled, constant }: NodeProperties,
  loop: CompiledValue | undefined,
  streamVariables: readonly string[],
): readonly string[] | undefined {
  const known = constant ?? finishProperties(plug, compiled.fixed, compiled.moving).properties ?? compiled.fixed
  const plugNames = namesRead(plug, known, compiled.moving)
  const uses = [...compiled.uses, ...(loop?.uses ?? [])]
  if (plugNames === undefined) return undefined
  const variables = [...uses, ...codedUses(plug, known)].flatMap(({ root, segments: [name = ''] }) =>
    root === 'variables' && streamVariables.includes(name) ? [name] : [],
  )
  const names = [...new Set([...plugNames, ...messageNames(uses), ...variables])]
  return names.length === 0 ? undefined : names
}

function needsIn(uses: readonly Path[]): Needs | undefined {
  const needs = needsOf(uses)
  const any = needs.taskMetadata || needs.nodeMetadata || needs.secrets.length > 0 || needs.variables.length > 0
  return any ? needs : undefined
}

function retryOf(config: RetryConfig | undefined, plug: Plug): Retry | undefined {
  if (config === undefined) return undefined
  const { maxRetries, minBackoff = 'PT1S', maxBackoff = 'PT1M', errorState } = config
  return {
    maxRetries,
    minBackoffMs: durationMs(minBackoff),
    maxBackoffMs: durationMs(maxBackoff),
    errorState: stateIndex(plug.states, errorState),
  }
}

function pauseLimit(text: string | undefined): number {
  return text === undefined ? DEFAULT_PAUSE_MS : durationMs(text)
}

function stateIndex(states: readonly string[], state: string | undefined): number {
  return state === undefined ? UNKNOWN : states.indexOf(state)
}

function compileGates(
  relations: readonly Relation[],
  firstIndex: number,
  byLabel: Map<string, GraphNode>,
  members: GroupTable,
): MutableGate[] {
  const gates = parentsFirst(relations).map((relation, slot): MutableGate => {
    const parents = relation.parentLabels.map((label) => observable(byLabel, label, `relation ${relation.label}`))
    const rows = distinct(
      relation.combinations.map((row) => row.map((state, i) => parents[i]?.states.indexOf(state) ?? UNKNOWN)),
    )
    const sizes = parents.map((parent) => parent.states.length)
    const gate: MutableGate = {
      kind: 'gate',
      label: relation.label,
      slot,
      index: firstIndex + slot,
      group: members.of(relation.label),
      type: relation.type,
      states: GATE_STATES,
      parents,
      rows,
      inputs: parents.map((parent, i) => ({
        index: parent.index,
        wanted: rows[0]?.[i] ?? UNKNOWN,
        size: sizes[i] ?? 0,
      })),
      rowKeys: rowKeys(rows, sizes),
      limits: limitsOf(relation),
      counts: members.count(relation, parents[0], rows[0]?.[0] ?? UNKNOWN),
      followers: [],
      readers: [],
    }
    byLabel.set(gate.label, gate)
    return gate
  })
  return gates
}

function limitsOf({ type, atLeast = 0, atMost = Number.POSITIVE_INFINITY }: Relation): CountLimits | undefined {
  return type === 'COUNT' || type === 'SHARE' ? { atLeast, atMost } : undefined
}

function distinct(rows: readonly (readonly number[])[]): readonly (readonly number[])[] {
  return [...new Map(rows.map((row) => [row.join(), row])).values()]
}

/** Encodes each row as one number in mixed radix; empty when numbers would be too large to be exact. */
function rowKeys(rows: readonly (readonly number[])[], sizes: readonly number[]): ReadonlySet<number> {
  if (sizes.reduce((product, size) => product * size, 1) > Number.MAX_SAFE_INTEGER) return new Set()
  return new Set(rows.map((row) => row.reduce((key, state, i) => key * (sizes[i] ?? 1) + state, 0)))
}

function observable(byLabel: ReadonlyMap<string, GraphNode>, label: string, where: string): ObservableNode {
  const node = byLabel.get(label)
  if (node === undefined || node.kind === 'actuator') {
    throw new AppError('VALIDATION', `${where} names ${label}, which is not a sensor or relation`)
  }
  return node
}

function compileTrigger(trigger: Trigger, order: number, byLabel: ReadonlyMap<string, GraphNode>): TriggerEdge {
  const source = observable(byLabel, trigger.sourceLabel, `trigger ${order}`)
  const destination = byLabel.get(trigger.destinationLabel)
  if (destination === undefined || destination.kind === 'gate') {
    throw new AppError(
      'VALIDATION',
      `trigger ${order} leads to ${trigger.destinationLabel}, which is not a sensor or actuator`,
    )
  }
  const setOf = (states: readonly string[] = []): readonly boolean[] | undefined =>
    states.length === 0 ? undefined : source.states.map((state) => states.includes(state))
  const change = trigger.stateChangeTrigger
  const changes = change !== undefined && change.stateFrom !== '' && change.stateTo !== ''
  return {
    order,
    source,
    behind: nodesBehind(source),
    destination,
    states: setOf(trigger.statesTrigger),
    change: changes ? { from: changeEnd(source, change.stateFrom), to: changeEnd(source, change.stateTo) } : undefined,
    begins: setOf(trigger.begins),
    ends: setOf(trigger.ends),
    policyMs: (trigger.invocationPolicy ?? 0) * 1000,
  }
}

function changeEnd(source: ObservableNode, state: string): number {
  return state === '*' ? ANY : source.states.indexOf(state)
}

function attachAll(
  nodes: {
    readonly sensors: readonly Mutable<SensorNode>[]
    readonly gates: readonly MutableGate[]
    readonly actuators: readonly Mutable<ActuatorNode>[]
  },
  triggers: readonly TriggerEdge[],
): void {
  const { sensors, gates, actuators } = nodes
  const children = new Map<ObservableNode, GateNode[]>()
  for (const gate of gates) for (const parent of new Set(gate.parents)) listAt(children, parent).push(gate)
  const leaving = new Map<ObservableNode, TriggerEdge[]>()
  const incoming = new Map<GraphNode, TriggerEdge[]>()
  for (const trigger of triggers) {
    listAt(leaving, trigger.source).push(trigger)
    listAt(incoming, trigger.destination).push(trigger)
  }
  for (const node of [...sensors, ...actuators]) node.incoming.push(...(incoming.get(node) ?? []))
  for (const node of [...sensors, ...gates]) {
    const destinations = (leaving.get(node) ?? []).map(({ destination }) => destination)
    node.followers.push(...(children.get(node) ?? []), ...new Set(destinations))
  }
  for (const sensor of sensors) {
    const reached = new Set<ObservableNode>([sensor])
    for (const node of reached) for (const child of children.get(node) ?? []) reached.add(child)
    for (const node of reached) {
      if (node.kind === 'gate') sensor.gates.push(node)
      sensor.triggers.push(...(leaving.get(node) ?? []))
    }
    sensor.gates.sort((a, b) => a.index - b.index)
    sensor.triggers.sort((a, b) => a.order - b.order)
  }
}

function attachReads(
  nodes: readonly (Mutable<SensorNode> | MutableGate | Mutable<ActuatorNode>)[],
  sensors: readonly Mutable<SensorNode>[],
): void {
  const byLabel = new Map(nodes.map((node) => [node.label, node]))
  for (const sensor of sensors) {
    for (const label of readsOf(sensor.call.uses).nodes) {
      const node = byLabel.get(label)
      if (node === undefined || node === sensor) continue
      sensor.reads.push(node)
      node.readers.push(sensor)
    }
  }
}

function listAt<K, V>(map: Map<K, V[]>, key: K): V[] {
  const list = map.get(key) ?? []
  map.set(key, list)
  return list
}
