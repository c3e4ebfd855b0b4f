/**
 * Which tasks can run as rows, and what of them a row has to know. A message into a row builds no event,
 * no execution and no origin: sensor states become bits of one number, and what follows from two such numbers (before
 * and now) is looked up. Everything else about the task is made up for when somebody looks (see rule-batch.ts).
 *
 * A task qualifies when each message runs each of its sensors exactly once, in an order that never changes:
 * SHAPE-1 one resource; all sensors are in its data plan or follow from one by a trigger without condition and
 *   cool-down
 * SHAPE-2 observations are never evicted, and each message resets them or decides no gate more than once; no sensor has a
 *   clock of its own
 * SHAPE-3 no node fetches, loops or pauses; the task is not onetime and does not count its clock from the end of work
 * SHAPE-4 actuators fire only when the last sensor whose plug is called has answered, or that a trigger runs: those after
 *   it are worked out, which nobody can tell from working them out before. An actuator that looks at its task sees half a
 *   message
 * SHAPE-5 at most 30 bits of states, of which at most 8 decide gates and triggers
 */
import type { Graph, GraphNode, PlugCall, SensorNode, TriggerEdge } from '../graph/graph.ts'
import type { TaskModel } from '../task/run.ts'
import { earliestFiring } from './possible-firings.ts'
import { computedSensors, isCalled, NEITHER, type SensorSteps } from './computed-sensors.ts'
import { fillSource, type FillSource } from './property-fill.ts'
import { parametersIn, type SensorFormula } from './sensor-formula.ts'

const MAX_BITS = 30
const MAX_KEY_BITS = 8
const MAX_ACTUATORS = 16
const MAX_GATES = 30

export interface ShapeSensor {
  readonly slot: number
  /** where its state stands in the number, and how wide it is */
  readonly shift: number
  readonly mask: number
  /** with neither, its plug is called */
  readonly steps: SensorSteps | undefined
  /** values of which a message has to have one to run it; undefined: every message does */
  readonly waitsFor: readonly string[] | undefined
  /** values of which it tells when it found them in earlier messages */
  readonly reads: readonly string[]
  readonly formula: SensorFormula | undefined
  /** of a called sensor: how its properties are made, when that is simple */
  readonly fill: FillSource | undefined
}

export interface BatchShape {
  /** equal for tasks that can share code and tables */
  readonly key: string
  /** in the order in which they run */
  readonly sensors: readonly ShapeSensor[]
  /** of all states together */
  readonly bits: number
  /** the low bits, on which gates and triggers depend */
  readonly keyBits: number
  /** messages may run some of the sensors */
  readonly takesParts: boolean
  /** how many numbers a task has of its own */
  readonly constants: number
  readonly gates: number
  readonly actuators: number
  /** sensors fire others */
  readonly inner: boolean
  /** actuators may fire before all sensors have answered, and more than once with a message */
  readonly early: boolean
}

export interface BatchFit {
  readonly shape: BatchShape
  /** this task's cuts, in the order of the sensors */
  readonly constants: readonly number[]
}

/** How a task can run as a row; undefined when it cannot. */
export function fitOf(model: TaskModel): BatchFit | undefined {
  const { graph, settings } = model
  const isPlain =
    (settings.resetObservations || isDecidedOnce(graph)) &&
    settings.type !== 'onetime' &&
    model.schedule?.fixedDelay !== true &&
    model.ownSchedules.size === 0 &&
    model.resources.length === 1 &&
    graph.actuators.length <= MAX_ACTUATORS &&
    graph.gates.length <= MAX_GATES &&
    [...graph.sensors, ...graph.actuators].every(({ call }) => isPlainCall(call)) &&
    graph.sensors.every(({ evictionTime }) => evictionTime === Number.POSITIVE_INFINITY)
  if (!isPlain) return undefined
  const order = callingOrder(model)
  return order && fit(model, order)
}

/** Whether no gate has more than one sensor behind it: then a message decides each at most once. */
function isDecidedOnce({ sensors, gates }: Graph): boolean {
  return gates.every((gate) => sensors.filter((sensor) => sensor.gates.includes(gate)).length < 2)
}

function isPlainCall({ needs, loop, pauseMs }: PlugCall): boolean {
  return needs === undefined && loop === undefined && pauseMs === undefined
}

/** The order in which one message runs all sensors; undefined when it does not run each once. */
function callingOrder(model: TaskModel): readonly SensorNode[] | undefined {
  const { graph, settings } = model
  const roots = model.dataPlans[0]
  if (roots === undefined) return undefined
  const groups = settings.parallel ? roots.groups : roots.serial
  const order: SensorNode[] = []
  for (const root of groups.flat()) {
    const waiting = [root]
    for (const sensor of waiting) {
      order.push(sensor)
      if (order.length > graph.sensors.length) return undefined
      for (const { destination } of sensor.triggers) if (destination.kind === 'sensor') waiting.push(destination)
    }
  }
  const areUnconditional = graph.triggers.every((trigger) => trigger.destination.kind !== 'sensor' || isAlways(trigger))
  const isComplete = order.length === graph.sensors.length && new Set(order).size === order.length
  return areUnconditional && isComplete ? order : undefined
}

function isAlways({ source, states, change, policyMs }: TriggerEdge): boolean {
  return source.kind === 'sensor' && states === undefined && change === undefined && policyMs <= 0
}

function fit(model: TaskModel, order: readonly SensorNode[]): BatchFit | undefined {
  const { graph, properties, settings } = model
  const deciding = decidingSensors(graph)
  const places = new Map<SensorNode, { shift: number; mask: number }>()
  let bits = 0
  let keyBits = 0
  for (const sensor of order.toSorted((a, b) => Number(deciding.has(b)) - Number(deciding.has(a)))) {
    const width = Math.max(1, Math.ceil(Math.log2(sensor.states.length)))
    places.set(sensor, { shift: bits, mask: 2 ** width - 1 })
    bits += width
    if (deciding.has(sensor)) keyBits = bits
  }
  if (bits > MAX_BITS || keyBits > MAX_KEY_BITS) return undefined

  const roots = new Set(model.dataPlans[0]?.sensors)
  const { computed, constants } = computedSensors(order, properties)
  const placeOf = (label: string): number | undefined => {
    const place = order.findIndex((sensor, p) => sensor.label === label && isCalled(computed[p] ?? NEITHER))
    return place === -1 ? undefined : place
  }
  const sensors = order.map((sensor, p): ShapeSensor => {
    const { shift, mask } = places.get(sensor) ?? { shift: 0, mask: 0 }
    const own = computed[p] ?? NEITHER
    const fill = isCalled(own) ? fillSource(properties.of(sensor.call), placeOf) : undefined
    const waitsFor = roots.has(sensor) ? sensor.parameters : undefined
    return { slot: sensor.slot, shift, mask, ...own, waitsFor, reads: sensor.parameters ?? [], fill }
  })
  const earliest = earliestFiring(graph, order, settings.gatesNeedFullObservation)
  const early = earliest < order.length - 1
  const own = sizes(graph)
  if (earliest < sensors.findLastIndex(isCalled) || (early && own.inner)) return undefined
  const takesParts =
    settings.resetObservations &&
    settings.resetScope === 'invocation' &&
    sensors.every((sensor) => mayStand(sensor)) &&
    roots.size === order.length
  const shape = { sensors, bits, keyBits, takesParts, early, constants: constants.length, ...own }
  return { shape: { ...shape, key: JSON.stringify([shape, structure(model)]) }, constants }
}

/** Whether it is worked out when a message has its values, and perhaps else, and nothing but its state is used. */
function mayStand({ steps, formula, waitsFor }: ShapeSensor): boolean {
  if (formula !== undefined && formula.numbers.length > 0) return false
  const reads = steps ? [steps.parameter] : formula ? parametersIn(formula).map(([name]) => name) : []
  return reads.length > 0 && (waitsFor === undefined || reads.every((name) => waitsFor.includes(name)))
}

function sizes({ gates, actuators, triggers }: Graph): Pick<BatchShape, 'gates' | 'actuators' | 'inner'> {
  const inner = triggers.some(({ destination }) => destination.kind === 'sensor')
  return { gates: gates.length, actuators: actuators.length, inner }
}

/** The sensors whose states decide about something. */
function decidingSensors(graph: Graph): ReadonlySet<SensorNode> {
  const found = new Set<SensorNode>(graph.sensors.filter((sensor) => sensor.gates.length > 0))
  for (const { source, states, change } of graph.triggers) {
    if (source.kind === 'sensor' && (states !== undefined || change !== undefined)) found.add(source)
  }
  return found
}

/** Everything that decides what follows from states. */
function structure({ graph, settings }: TaskModel): unknown {
  return [
    settings.gatesNeedFullObservation,
    settings.resetObservations,
    graph.sensors.map(({ states, call }) => [states.length, call.retry !== undefined]),
    graph.gates.map(({ type, inputs, rows }) => [type, inputs, rows]),
    graph.triggers.map(({ source, destination, states, change, policyMs }) => {
      return [source.index, destination.kind, destination.slot, states, change, policyMs]
    }),
  ]
}

/** A sensor by its position, or an actuator by its slot. */
export function nodeOf({ sensors }: BatchShape, graph: Graph, isSensor: boolean, node: number): GraphNode {
  return (isSensor ? graph.sensors[sensors[node]?.slot ?? -1] : graph.actuators[node]) as GraphNode
}

/** What leads to it: to an actuator the trigger at a place. */
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
