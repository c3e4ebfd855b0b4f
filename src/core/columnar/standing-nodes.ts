/**
 * Restores the parts of a row's full state that its last message did not touch: sensors that it did not run, and gates
 * that depend on none of the sensors that it ran. Each keeps its state from the last message that ran it, or one of its
 * sensors.
 */
import { UNKNOWN, type GateNode, type Graph, type SensorNode } from '../graph/graph.ts'
import { newExecution } from '../task/execution.ts'
import type { Origin } from '../task/origin.ts'
import type { Observed, SensorState } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'
import { evaluationOf, lastEvaluation } from './possible-firings.ts'
import type { KeptMessage } from './field-set-history.ts'
import type { RowStore } from './row-store.ts'
import type { BatchTask } from './row-handle.ts'

/** Returns whether a sensor has no state, or failed when it last ran. */
export function hasUnknown({ sensors }: Pick<TaskState, 'sensors'>): boolean {
  return sensors.some(({ state, error }) => state === UNKNOWN || error !== null)
}

/**
 * Returns, by slot, the message that last ran each sensor, if that message is kept. `runs`: what the last message ran.
 */
export function standingSensors(
  rows: RowStore,
  kept: readonly KeptMessage[],
  runs: readonly boolean[],
): readonly (KeptMessage | undefined)[] {
  const by: (KeptMessage | undefined)[] = []
  for (const one of kept) {
    const part = rows.parts.of(one.fields)
    for (const { slot } of rows.shape.sensors) if (part?.runs[slot] === true && !runs[slot]) by[slot] = one
  }
  return by
}

export function originOf({ message, time }: KeptMessage): Origin {
  return { kind: 'data', time, resource: message.resource, values: message }
}

/** Sets everything except state, memory and `since`. `prior`: state bits that each sensor had before its last run. */
export function setStanding(
  rows: RowStore,
  task: BatchTask,
  by: readonly (KeptMessage | undefined)[],
  prior: number,
  bits: number,
): void {
  const { graph } = task.model
  const before = rows.states(prior)
  const origins = new Map<KeptMessage, Origin>()
  for (const [slot, kept] of by.entries()) {
    if (kept === undefined) continue
    let origin = origins.get(kept)
    if (origin === undefined) origins.set(kept, (origin = originOf(kept)))
    setSensor(task, slot, origin, before[slot] ?? UNKNOWN)
  }
  for (const gate of graph.gates) {
    const last = lastOf(graph, gate, by)
    if (last === undefined) continue
    const runs = new Set(graph.sensors.filter(({ slot }) => by[slot] === last))
    const states = rows.states(bits)
    const old = states.map((state, slot) => (by[slot] === last ? (before[slot] ?? UNKNOWN) : state))
    const evaluated = lastEvaluation(evaluationOf(task.model), runs, old, states, gate)
    const observed = task.state.observed[gate.index] as Observed // the compiler assigned the index
    observed.previous = evaluated.previous
    observed.before = evaluated.before
  }
}

function setSensor(task: BatchTask, slot: number, origin: Origin, before: number): void {
  const sensor = task.state.sensors[slot] as SensorState
  const node = task.model.graph.sensors[slot] as SensorNode
  sensor.error = null
  sensor.origin = origin
  sensor.via = null
  sensor.collectedTime = origin.time
  sensor.previous = before
  sensor.before = before
  if (task.model.settings.resetObservations) {
    sensor.lost = origin.time
    sensor.previous = UNKNOWN
  }
  const outcome = task.call({ ...newExecution(node, origin), phase: 'called' })
  if (outcome.ok && outcome.rawData !== undefined) sensor.rawData = outcome.rawData
}

/**
 * Returns the last message that evaluated a gate; undefined: the row's last message, or one that the full state has
 * processed.
 */
function lastOf(graph: Graph, gate: GateNode, by: readonly (KeptMessage | undefined)[]): KeptMessage | undefined {
  let last: KeptMessage | undefined
  for (const { slot, gates } of graph.sensors) {
    if (!gates.includes(gate)) continue
    const kept = by[slot]
    if (kept !== undefined && (last === undefined || kept.index > last.index)) last = kept
  }
  return last
}
