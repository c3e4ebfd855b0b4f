/** Makes states known and unknown, and updates the gates that depend on them. */
import { UNKNOWN, type GateNode, type Plan, type SensorNode } from '../graph/graph.ts'
import { decide } from '../graph/relations.ts'
import { touchNode } from './evaluation.ts'
import { countAll, decideMembers } from './members/counting.ts'
import { lagOf, type TaskRun } from './run.ts'
import { observedState, sensorState, type Observed, type Touch } from './state.ts'
import { traceEvicted, traceState } from './trace.ts'

export function observe(run: TaskRun, node: SensorNode, state: number, touch: Omit<Touch, 'isObserved'>): void {
  const sensor = sensorState(run.state, node)
  settle(sensor, state, run.now)
  sensor.origin = touch.origin
  sensor.via = touch.via
  if (node.evictionTime !== Number.POSITIVE_INFINITY) {
    sensor.evictAt = run.now + node.evictionTime
    sensor.evictLag = lagOf(run)
    run.sink.timer('evict', sensor.evictAt + sensor.evictLag, node.slot)
  }
  if (sensor.previous !== state) traceState(run, touch.invocation, node, sensor.previous, state)
  touchNode(run, node, { ...touch, isObserved: true })
}

/** Returns the state of a gate by the states of its parents, or of the members that it counts. */
export function evaluate(run: TaskRun, gate: GateNode): number {
  if (gate.counts !== undefined) return decideMembers(run, gate, gate.counts)
  return decide(gate, run.state.observed, run.model.settings.gatesNeedFullObservation)
}

/** Decides gates of another rule from their parents alone. Nothing fires. */
export function decideAgain(run: TaskRun, gates: readonly GateNode[]): void {
  for (const gate of gates) {
    if (gate.group !== -1) continue
    if (gate.counts !== undefined) countAll(run, gate.counts)
    const state = evaluate(run, gate)
    if (state === UNKNOWN) continue
    Object.assign(observedState(run.state, gate), { state, memory: state, previous: state, before: state })
    observedState(run.state, gate).since = run.now
  }
}

export function settle(observed: Observed, state: number, now: number): void {
  observed.previous = observed.state
  observed.before = observed.state === UNKNOWN ? observed.memory : observed.state
  observed.state = state
  if (state === UNKNOWN) {
    if (observed.previous !== UNKNOWN) observed.lost = now
    return
  }
  if (state !== observed.before) observed.since = now
  observed.memory = state
}

/** Forgets the observations of a plan's sensors, but keeps the memory of each. Nothing fires. */
export function reset(run: TaskRun, plan: Plan): void {
  for (const node of plan.reset) forget(sensorState(run.state, node), run.now)
  for (const gate of plan.resetGates) {
    const observed = observedState(run.state, gate)
    if (observed.state !== UNKNOWN && evaluate(run, gate) === UNKNOWN) forget(observed, run.now)
  }
}

function forget(observed: Observed, now: number): void {
  if (observed.state === UNKNOWN) return
  observed.state = UNKNOWN
  observed.lost = now
}

/** Evicts an observation: the sensor and every gate that depends on it become unknown. Nothing fires. */
export function evict(run: TaskRun, node: SensorNode): void {
  const sensor = sensorState(run.state, node)
  sensor.evictAt = Number.POSITIVE_INFINITY
  sensor.memory = UNKNOWN
  if (!node.keepRawData) sensor.rawData = undefined
  if (sensor.state === UNKNOWN) return
  traceEvicted(run, node, sensor.state)
  forget(sensor, run.now)
  for (const gate of node.gates) {
    const observed = observedState(run.state, gate)
    if (observed.state === UNKNOWN || evaluate(run, gate) !== UNKNOWN) continue
    forget(observed, run.now)
    observed.memory = UNKNOWN
  }
}
