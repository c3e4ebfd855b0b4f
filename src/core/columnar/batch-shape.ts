/**
 * Decides which tasks can run as rows, and computes what a row needs to know about its task. A row takes a message
 * without creating events, executions or origins: sensor states are bits of one number, and the consequences of two
 * such numbers (before and now) are looked up. Everything else about the task is derived on demand (see rule-batch.ts).
 *
 * A task qualifies when each message runs each of its sensors exactly once, in a fixed order:
 * SHAPE-1 it has one resource; each sensor is in its data plan or is fired by exactly one trigger, which starts at a
 *   sensor and has neither condition nor cool-down
 * SHAPE-2 observations are never evicted; no sensor has a clock of its own
 * SHAPE-3 no node fetches, loops or pauses; the task is not onetime and does not count its clock from the end of work
 * SHAPE-4 actuators come after all sensors and gates, and all triggers of an actuator have the same cool-down
 * SHAPE-5 states and trigger edges take at most 30 bits, at most 8 of which decide gates and triggers
 */
import type { Graph, GraphNode, PlugCall, SensorNode, TriggerEdge } from '../graph/graph.ts'
import { isUnconditional } from '../task/fire.ts'
import type { TaskModel } from '../task/run.ts'
import { HAS_BEGUN, MAY_END } from '../task/state.ts'
import { evaluationOf } from './possible-firings.ts'
import { computedSensors, NEITHER, type SensorSteps } from './computed-sensors.ts'
import { parametersIn, type SensorFormula } from './sensor-formula.ts'

const MAX_BITS = 30
const MAX_KEY_BITS = 8
const MAX_ACTUATORS = 16
const MAX_GATES = 30

export interface ShapeSensor {
  readonly slot: number
  /** lowest bit and mask of the sensor's state within the state bits */
  readonly shift: number
  readonly mask: number
  /** if both are undefined, messages call the sensor's plug */
  readonly steps: SensorSteps | undefined
  /** the sensor runs if the message has at least one of these fields; undefined: it always runs */
  readonly waitsFor: readonly string[] | undefined
  /** fields that the sensor reports as carried when their values come from earlier messages */
  readonly reads: readonly string[]
  readonly formula: SensorFormula | undefined
}

/** The state bit of a trigger into an actuator: whether an episode has begun, or may end. */
export interface ShapeEdge {
  /** order of the trigger */
  readonly trigger: number
  /** slot of the actuator, and index of this trigger among the actuator's triggers */
  readonly actuator: number
  readonly place: number
  readonly kind: typeof HAS_BEGUN | typeof MAY_END
  readonly shift: number
}

export interface BatchShape {
  /** tasks with equal keys share code and tables */
  readonly key: string
  /** in execution order */
  readonly sensors: readonly ShapeSensor[]
  /** number of bits that all states take */
  readonly bits: number
  /** number of low bits, which decide gates and triggers */
  readonly keyBits: number
  readonly edges: readonly ShapeEdge[]
  /** bits of all edges */
  readonly edgeMask: number
  /** whether a message may run only some of the sensors */
  readonly takesParts: boolean
  readonly constants: number
  readonly gates: number
  readonly actuators: number
  /** whether some sensors are fired by others */
  readonly inner: boolean
}

export interface BatchFit {
  readonly shape: BatchShape
  /** limits of this task, in sensor order */
  readonly constants: readonly number[]
}

/** Returns how a task fits into a row, or undefined when it cannot run as one. */
export function fitOf(model: TaskModel): BatchFit | undefined {
  const { graph, settings } = model
  const isPlain =
    settings.type !== 'onetime' &&
    model.schedule?.fixedDelay !== true &&
    model.sensorSchedules.size === 0 &&
    model.resources.length === 1 &&
    graph.groups.length === 0 &&
    graph.held === undefined &&
    graph.actuators.length <= MAX_ACTUATORS &&
    graph.gates.length <= MAX_GATES &&
    [...graph.sensors, ...graph.actuators].every(({ call }) => isPlainCall(call)) &&
    graph.sensors.every(({ evictionTime }) => evictionTime === Number.POSITIVE_INFINITY) &&
    // States do not determine when an actuator finishes.
    graph.sensors.every(({ reads }) => reads.every(({ kind }) => kind !== 'actuator'))
  if (!isPlain) return undefined
  const order = callingOrder(model)
  return order && fit(model, order)
}

function isPlainCall({ needs, loop, pauseMs }: PlugCall): boolean {
  return needs === undefined && loop === undefined && pauseMs === undefined
}

function callingOrder(model: TaskModel): readonly SensorNode[] | undefined {
  const run = new Set<GraphNode>(model.dataPlans[0]?.sensors)
  const order = evaluationOf(model).nodes.filter((node) => node.kind === 'sensor')
  for (const sensor of order) {
    const [trigger, another] = sensor.incoming
    if (run.has(sensor) ? trigger !== undefined : another !== undefined || !isAlways(trigger, run)) return undefined
    run.add(sensor)
  }
  return order
}

function isAlways(trigger: TriggerEdge | undefined, run: ReadonlySet<GraphNode>): boolean {
  if (trigger === undefined || !run.has(trigger.source)) return false
  return trigger.source.kind === 'sensor' && isUnconditional(trigger) && trigger.policyMs <= 0
}

function fit(model: TaskModel, order: readonly SensorNode[]): BatchFit | undefined {
  const { graph, properties, settings } = model
  const deciding = decidingSensors(graph)
  const places = new Map<SensorNode, { shift: number; mask: number }>()
  let bits = 0
  const place = (sensors: readonly SensorNode[]): void => {
    for (const sensor of sensors) {
      const width = Math.max(1, Math.ceil(Math.log2(sensor.states.length)))
      places.set(sensor, { shift: bits, mask: 2 ** width - 1 })
      bits += width
    }
  }
  place(order.filter((sensor) => deciding.has(sensor)))
  const edges = edgesOf(graph, bits)
  bits += edges.length
  const keyBits = bits
  place(order.filter((sensor) => !deciding.has(sensor)))
  if (bits > MAX_BITS || keyBits > MAX_KEY_BITS) return undefined

  const roots = new Set(model.dataPlans[0]?.sensors)
  const { computed, constants } = computedSensors(order, properties)
  const sensors = order.map((sensor, p): ShapeSensor => {
    const { shift, mask } = places.get(sensor) ?? { shift: 0, mask: 0 }
    const own = computed[p] ?? NEITHER
    const waitsFor = roots.has(sensor) ? sensor.parameters : undefined
    return { slot: sensor.slot, shift, mask, ...own, waitsFor, reads: sensor.parameters ?? [] }
  })
  const own = sizes(graph)
  const { nodes } = evaluationOf(model)
  const first = nodes.findIndex(({ kind }) => kind === 'actuator')
  if (first !== -1 && nodes.findLastIndex(({ kind }) => kind !== 'actuator') > first) return undefined
  if (graph.actuators.some(({ incoming }) => new Set(incoming.map(({ policyMs }) => policyMs)).size > 1))
    return undefined
  const takesParts =
    (!settings.resetObservations || settings.resetScope === 'invocation') &&
    sensors.every((sensor) => mayStand(sensor)) &&
    roots.size === order.length
  const edgeMask = edges.reduce((mask, { shift }) => mask | (1 << shift), 0)
  const of = { sensors, bits, keyBits, edges, edgeMask, takesParts, constants: constants.length }
  const shape = { ...of, ...own }
  return { shape: { ...shape, key: JSON.stringify([shape, structure(model)]) }, constants }
}

function edgesOf({ actuators }: Graph, first: number): readonly ShapeEdge[] {
  const kinds = actuators.flatMap(({ incoming, slot: actuator }) =>
    incoming.flatMap(({ order: trigger, begins, ends }, place) => [
      ...(begins === undefined ? [] : [{ trigger, actuator, place, kind: HAS_BEGUN } as const]),
      ...(ends === undefined ? [] : [{ trigger, actuator, place, kind: MAY_END } as const]),
    ]),
  )
  return kinds.map((edge, i) => ({ ...edge, shift: first + i }))
}

function mayStand({ steps, formula, waitsFor }: ShapeSensor): boolean {
  if (formula !== undefined && formula.numbers.length > 0) return false
  const reads = steps ? [steps.parameter] : formula ? parametersIn(formula).map(([name]) => name) : []
  return reads.length > 0 && (waitsFor === undefined || reads.every((name) => waitsFor.includes(name)))
}

function sizes({ gates, actuators, triggers }: Graph): Pick<BatchShape, 'gates' | 'actuators' | 'inner'> {
  const inner = triggers.some(({ destination }) => destination.kind === 'sensor')
  return { gates: gates.length, actuators: actuators.length, inner }
}

function decidingSensors(graph: Graph): ReadonlySet<SensorNode> {
  const found = new Set<SensorNode>(graph.sensors.filter((sensor) => sensor.gates.length > 0))
  for (const trigger of graph.triggers) {
    const { source } = trigger
    if (source.kind === 'sensor' && !isUnconditional(trigger)) found.add(source)
  }
  return found
}

function structure({ graph, settings }: TaskModel): unknown {
  return [
    settings.gatesNeedFullObservation,
    settings.resetObservations,
    evaluationOf({ graph, settings }).nodes.map(({ kind, slot }) => [kind, slot]),
    graph.sensors.map(({ states, call }) => [states.length, call.retry !== undefined]),
    graph.gates.map(({ type, inputs, rows, limits }) => [type, inputs, rows, limits]),
    graph.triggers.map(({ source, destination, states, change, begins, ends, policyMs }) => {
      return [source.index, destination.kind, destination.slot, states, change, begins, ends, policyMs]
    }),
  ]
}

/** Returns the sensor at a position, or the actuator at a slot. */
export function nodeOf({ sensors }: BatchShape, graph: Graph, isSensor: boolean, node: number): GraphNode {
  return (isSensor ? graph.sensors[sensors[node]?.slot ?? -1] : graph.actuators[node]) as GraphNode
}

/** Returns the trigger that fires a node; for an actuator, its trigger at index `place`. */
export function triggerOf(
  shape: BatchShape,
  graph: Graph,
  isSensor: boolean,
  node: number,
  trigger: number,
): TriggerEdge | undefined {
  if (!isSensor) return graph.triggers[trigger]
  return graph.triggers.find(({ destination }) => destination === nodeOf(shape, graph, true, node))
}
