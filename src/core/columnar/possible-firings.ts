/**
 * Computes the consequences of sensor states, once per pair of states, with the same functions as the state machine.
 */
import {
  UNKNOWN,
  type ActuatorNode,
  type GateNode,
  type Graph,
  type GraphNode,
  type SensorNode,
  type TriggerEdge,
} from '../graph/graph.ts'
import { decide } from '../graph/relations.ts'
import { match } from '../task/fire.ts'
import { settle } from '../task/observe.ts'
import type { TaskModel } from '../task/run.ts'
import type { Holding, Observed } from '../task/state.ts'

/** An actuator that a message fires unless it is cooling down. */
export interface PossibleFiring {
  readonly actuator: ActuatorNode
  /** its triggers that hold, as declared; at least one */
  readonly holding: readonly Holding[]
  /** position of the last sensor that runs before the actuator */
  readonly position: number
}

/** How all tasks of a rule evaluate a message. */
export interface Evaluation {
  readonly graph: Graph
  /** in evaluation order */
  readonly nodes: readonly GraphNode[]
  readonly needsAll: boolean
  /** whether a message first clears the state of what it runs */
  readonly resets: boolean
}

export function evaluationOf({ graph, settings }: Pick<TaskModel, 'graph' | 'settings'>): Evaluation {
  const { parallel, gatesNeedFullObservation: needsAll, resetObservations: resets } = settings
  return { graph, nodes: graph.orders[parallel ? 'parallel' : 'serial'].nodes, needsAll, resets }
}

/** Returns the edge bits of a trigger before a message. */
export type Edges = (trigger: TriggerEdge) => number

const NO_EDGES: Edges = () => 0

/**
 * Returns, in order and ignoring cool-downs, the actuators that a message may fire when it runs the given sensors.
 * `before` and `now` are state indexes by slot.
 */
export function firingsOf(
  evaluation: Evaluation,
  runs: ReadonlySet<SensorNode>,
  before: readonly number[],
  now: readonly number[],
  edges: Edges,
): readonly PossibleFiring[] {
  return evaluate(evaluation, beforeMessage(evaluation, runs, before), runs, runs, now, edges)
}

/** Evaluates all nodes once. `answering`: the sensors among `runs` that have a state. */
function evaluate(
  { nodes, needsAll }: Evaluation,
  observed: readonly Observed[],
  runs: ReadonlySet<SensorNode>,
  answering: ReadonlySet<SensorNode>,
  now: readonly number[],
  edges = NO_EDGES,
): readonly PossibleFiring[] {
  const touched = new Set<GraphNode>()
  const firings: PossibleFiring[] = []
  let position = -1
  for (const node of nodes) {
    if (node.kind === 'actuator') {
      const holding = node.incoming.flatMap((trigger) =>
        touched.has(trigger.source) ? holds(trigger, observed, edges) : [],
      )
      if (holding.length > 0) firings.push({ actuator: node, holding, position })
    } else if (node.kind === 'sensor') {
      if (runs.has(node)) position++
      if (!answering.has(node)) continue
      settle(at(observed, node.index), now[node.slot] ?? UNKNOWN, 0)
      touched.add(node)
    } else if (node.parents.some((parent) => touched.has(parent))) {
      settle(at(observed, node.index), decide(node, observed, needsAll), 0)
      touched.add(node)
    }
  }
  return firings
}

function holds(trigger: TriggerEdge, observed: readonly Observed[], edges: Edges): readonly Holding[] {
  const source = at(observed, trigger.source.index)
  const matched = match(trigger, source, edges(trigger))
  return matched === undefined ? [] : [{ trigger, matched, from: source.before, to: source.state }]
}

/**
 * Returns the actuators that a message may fire and the gates' resulting states (bits by slot), for a message that runs
 * all sensors when some fail now or had failed before. `gates`: their states before it.
 */
export function outcomeWithout(
  evaluation: Evaluation,
  answering: ReadonlySet<SensorNode>,
  { before, now, gates }: { before: readonly number[]; now: readonly number[]; gates: number },
): { readonly firings: readonly PossibleFiring[]; readonly gates: number } {
  const { graph } = evaluation
  const all = new Set(graph.sensors)
  const observed = beforeMessage(evaluation, all, before)
  for (const { index, slot } of graph.gates) at(observed, index).memory = (gates >> slot) & 1
  const firings = evaluate(evaluation, observed, all, answering, now)
  return {
    firings,
    gates: graph.gates.reduce((bits, { index, slot }) => bits | (at(observed, index).memory << slot), 0),
  }
}

/** Returns a gate's last evaluation in a message that ran some sensors. States before and after it are by slot. */
export function lastEvaluation(
  evaluation: Evaluation,
  runs: ReadonlySet<SensorNode>,
  before: readonly number[],
  now: readonly number[],
  { index }: GateNode,
): Pick<Observed, 'previous' | 'before'> {
  const observed = beforeMessage(evaluation, runs, before)
  evaluate(evaluation, observed, runs, runs, now)
  return at(observed, index)
}

/** Counts the gates that change in a message that runs all sensors. States before and after it are by slot. */
export function gateChanges(evaluation: Evaluation, before: readonly number[], now: readonly number[]): number {
  const { graph } = evaluation
  const all = new Set(graph.sensors)
  const observed = beforeMessage(evaluation, all, before)
  evaluate(evaluation, observed, all, all, now)
  return graph.gates.filter(({ index }) => at(observed, index).previous !== at(observed, index).state).length
}

/** Returns the states of the gates, by slot, when all sensor states are known. */
export function gateStates(graph: Graph, sensors: readonly number[], needsAll: boolean): readonly number[] {
  const observed = known(graph, sensors)
  for (const gate of graph.gates) at(observed, gate.index).state = decide(gate, observed, needsAll)
  return graph.gates.map((gate) => at(observed, gate.index).state)
}

function beforeMessage(
  { graph, needsAll, resets }: Evaluation,
  runs: ReadonlySet<SensorNode>,
  before: readonly number[],
): Observed[] {
  const observed = known(graph, before)
  for (const gate of graph.gates) {
    const node = at(observed, gate.index)
    node.state = decide(gate, observed, needsAll)
    node.memory = node.state
  }
  if (!resets) return observed
  for (const sensor of runs) at(observed, sensor.index).state = UNKNOWN
  for (const gate of graph.gates) {
    if (decide(gate, observed, needsAll) === UNKNOWN) at(observed, gate.index).state = UNKNOWN
  }
  return observed
}

function known(graph: Graph, sensors: readonly number[]): Observed[] {
  const observed = [...graph.sensors, ...graph.gates].map((): Observed => {
    return { state: UNKNOWN, memory: UNKNOWN, previous: UNKNOWN, before: UNKNOWN, since: -1, lost: -1 }
  })
  for (const { index, slot } of graph.sensors) {
    at(observed, index).state = sensors[slot] ?? UNKNOWN
    at(observed, index).memory = sensors[slot] ?? UNKNOWN
  }
  return observed
}

function at(observed: readonly Observed[], index: number): Observed {
  return observed[index] as Observed // the compiler assigned the index
}
