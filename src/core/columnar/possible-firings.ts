/** What follows from sensor states: found once per pair of states by the very functions that the state machine uses. */
import { ANY, UNKNOWN, type GateNode, type Graph, type SensorNode, type TriggerEdge } from '../graph/graph.ts'
import { decide } from '../graph/relations.ts'
import { match, type Match } from '../task/fire.ts'
import { settle } from '../task/observe.ts'
import type { Observed } from '../task/state.ts'

/** A trigger that holds, and what it saw of its source. */
export interface PossibleFiring {
  readonly trigger: TriggerEdge
  /** of the sensor whose answer fires it, among those that the message runs */
  readonly position: number
  readonly matched: Match
  /** state of the source before, and now */
  readonly from: number
  readonly to: number
}

/**
 * The triggers into actuators that hold in one message that runs some sensors, in order, whether or not their cool-down
 * lets them fire. `before` and `now` are state indexes by slot; `resets`: what it runs is forgotten first.
 */
export function firingsOf(
  graph: Graph,
  order: readonly SensorNode[],
  before: readonly number[],
  now: readonly number[],
  needsAll: boolean,
  resets: boolean,
): readonly PossibleFiring[] {
  const observed = resets ? afterReset(graph, order, before, needsAll) : atRest(graph, before, needsAll)
  const attempts: PossibleFiring[] = []
  for (const [position, sensor] of order.entries()) {
    answer(observed, sensor, position, now, needsAll, attempts)
  }
  return attempts
}

/** A sensor shows its state: what its gates make of it, and which triggers into actuators hold, which go into `firings`. */
function answer(
  observed: readonly Observed[],
  sensor: SensorNode,
  position: number,
  now: readonly number[],
  needsAll: boolean,
  firings: PossibleFiring[],
): void {
  settle(at(observed, sensor.index), now[sensor.slot] ?? UNKNOWN, 0)
  for (const gate of sensor.gates) settle(at(observed, gate.index), decide(gate, observed, needsAll), 0)
  for (const trigger of sensor.triggers) {
    if (trigger.destination.kind === 'sensor') continue
    const source = at(observed, trigger.source.index)
    const matched = match(trigger, source)
    if (matched !== undefined) firings.push({ trigger, position, matched, from: source.before, to: source.state })
  }
}

/**
 * What a message does that runs all sensors, of which only some answer, or where only some did before: the triggers into
 * actuators that hold, and what gates were last, as bits by slot. `gates`: the same before it.
 */
export function outcomeWithout(
  graph: Graph,
  order: readonly SensorNode[],
  answering: ReadonlySet<SensorNode>,
  { before, now, gates }: { before: readonly number[]; now: readonly number[]; gates: number },
  needsAll: boolean,
): { readonly firings: readonly PossibleFiring[]; readonly gates: number } {
  const observed = afterReset(graph, order, before, needsAll)
  for (const { index, slot } of graph.gates) at(observed, index).memory = (gates >> slot) & 1
  const firings: PossibleFiring[] = []
  for (const [position, sensor] of order.entries()) {
    if (!answering.has(sensor)) continue
    answer(observed, sensor, position, now, needsAll, firings)
  }
  return {
    firings,
    gates: graph.gates.reduce((bits, { index, slot }) => bits | (at(observed, index).memory << slot), 0),
  }
}

/** How a gate was evaluated last in a message that ran some sensors; states are by slot, before and after it. */
export function lastEvaluation(
  graph: Graph,
  order: readonly SensorNode[],
  before: readonly number[],
  now: readonly number[],
  needsAll: boolean,
  { index }: GateNode,
): Pick<Observed, 'previous' | 'before'> {
  const observed = afterReset(graph, order, before, needsAll)
  for (const sensor of order) {
    settle(at(observed, sensor.index), now[sensor.slot] ?? UNKNOWN, 0)
    for (const gate of sensor.gates) settle(at(observed, gate.index), decide(gate, observed, needsAll), 0)
  }
  return at(observed, index)
}

/** How often gates change in one message that runs some sensors; states are by slot, before and after it. */
export function gateChanges(
  graph: Graph,
  order: readonly SensorNode[],
  before: readonly number[],
  now: readonly number[],
  needsAll: boolean,
  resets: boolean,
): number {
  const observed = resets ? afterReset(graph, order, before, needsAll) : atRest(graph, before, needsAll)
  let changes = 0
  for (const sensor of order) {
    settle(at(observed, sensor.index), now[sensor.slot] ?? UNKNOWN, 0)
    for (const gate of sensor.gates) {
      const node = at(observed, gate.index)
      settle(node, decide(gate, observed, needsAll), 0)
      if (node.previous !== node.state) changes++
    }
  }
  return changes
}

/** The gates' states, by slot, when all sensors are known. */
export function gateStates(graph: Graph, sensors: readonly number[], needsAll: boolean): readonly number[] {
  const observed = known(graph, sensors)
  for (const gate of graph.gates) at(observed, gate.index).state = decide(gate, observed, needsAll)
  return graph.gates.map((gate) => at(observed, gate.index).state)
}

/**
 * The first position, in calling order, at which a trigger into an actuator may hold; Infinity without any. `standing`:
 * sensors that are not called and keep their states.
 */
export function earliestFiring(
  graph: Graph,
  order: readonly SensorNode[],
  needsAll: boolean,
  standing: readonly SensorNode[] = [],
): number {
  for (const [position, sensor] of order.entries()) {
    const triggers = sensor.triggers.filter(({ destination }) => destination.kind === 'actuator')
    if (triggers.length > 0 && mayHold(graph, [...standing, ...order.slice(0, position + 1)], triggers, needsAll))
      return position
  }
  return Number.POSITIVE_INFINITY
}

const MAX_COMBINATIONS = 1024

/** Whether one of the triggers may hold when only these sensors are known. A change is taken to hold by where it leads. */
function mayHold(
  graph: Graph,
  sensors: readonly SensorNode[],
  triggers: readonly TriggerEdge[],
  needsAll: boolean,
): boolean {
  const behind = new Set(triggers.flatMap((trigger) => trigger.behind))
  const moving = sensors.filter((sensor) => behind.has(sensor))
  const combinations = moving.reduce((product, { states }) => product * states.length, 1)
  if (combinations > MAX_COMBINATIONS) return true
  const observed = known(graph, [])
  for (let i = 0; i < combinations; i++) {
    let rest = i
    for (const sensor of moving) {
      at(observed, sensor.index).state = rest % sensor.states.length
      rest = Math.floor(rest / sensor.states.length)
    }
    for (const gate of graph.gates) at(observed, gate.index).state = decide(gate, observed, needsAll)
    if (
      triggers.some((trigger) => at(observed, trigger.source.index).state !== UNKNOWN && canHold(trigger, observed))
    ) {
      return true
    }
  }
  return false
}

function canHold({ source, states, change }: TriggerEdge, observed: readonly Observed[]): boolean {
  const { state } = at(observed, source.index)
  if (states?.[state] === true || (states === undefined && change === undefined)) return true
  return change !== undefined && (change.to === ANY || change.to === state)
}

/** Sensors and gates as the state machine leaves them when a message has reset what it runs. */
function afterReset(
  graph: Graph,
  order: readonly SensorNode[],
  before: readonly number[],
  needsAll: boolean,
): Observed[] {
  const observed = atRest(graph, before, needsAll)
  for (const sensor of order) at(observed, sensor.index).state = UNKNOWN
  for (const gate of graph.gates) {
    if (decide(gate, observed, needsAll) === UNKNOWN) at(observed, gate.index).state = UNKNOWN
  }
  return observed
}

function atRest(graph: Graph, sensors: readonly number[], needsAll: boolean): Observed[] {
  const observed = known(graph, sensors)
  for (const gate of graph.gates) {
    const node = at(observed, gate.index)
    node.state = decide(gate, observed, needsAll)
    node.memory = node.state
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
  return observed[index] as Observed // indexes come from the compiler
}
