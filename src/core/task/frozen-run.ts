/** Takes snapshots of a task for acting calls, which continue while the task changes. */
import type { GraphNode } from '../graph/graph.ts'
import type { TaskModel, TaskRun } from './run.ts'
import { TaskState } from './task-state.ts'

/** Adapts a snapshot to another rule, in place, since calls hold the object. */
export function rebind(frozen: TaskRun, model: TaskModel): void {
  const { state } = frozen
  const before = frozen.model
  const copy = new TaskState(model.graph, model.resources.length)
  const { status, run, seed, invocations, work } = state
  Object.assign(copy, { status, run, seed, invocations })
  if (work !== null) {
    for (const node of model.graph.byLabel.values()) {
      const known = before.graph.byLabel.get(node.label)
      if (known === undefined || known.kind !== node.kind || !haveSameStates(known, node)) continue
      const kind = `${node.kind}s` as const
      Object.assign(copy[kind][node.slot] as object, work[kind][known.slot]) // slots lie inside their kind's list
    }
    for (const [index, resource] of model.resources.entries()) {
      const known = before.resources.indexOf(resource)
      copy.streams[index] = work.streams[known] ?? null
    }
  }
  Object.assign(frozen, { model, state: copy })
}

function haveSameStates(a: GraphNode, b: GraphNode): boolean {
  const names = (node: GraphNode): string => ('states' in node ? node.states.join('\n') : '')
  return names(a) === names(b)
}

export function frozenRun({ model, state, sink, now, at }: TaskRun): TaskRun {
  const copy = new TaskState(model.graph, model.resources.length)
  const { status, run, seed, invocations } = state
  Object.assign(copy, { status, run, seed, invocations })
  for (const [index, { loaded }] of state.groups.entries()) {
    const group = copy.groups[index]
    if (group !== undefined) group.loaded = loaded
  }
  const { work } = state
  if (work !== null) {
    // Values of the fields are only replaced as a whole, so a shallow copy suffices.
    for (const [slot, sensor] of copy.sensors.entries()) Object.assign(sensor, work.sensors[slot])
    for (const [slot, gate] of copy.gates.entries()) Object.assign(gate, work.gates[slot])
    for (const [slot, actuator] of copy.actuators.entries()) Object.assign(actuator, work.actuators[slot])
    for (const [index, stream] of work.streams.entries()) {
      copy.streams[index] = stream && { ...stream, carried: stream.carried && new Map(stream.carried) }
    }
  }
  return { model, state: copy, sink, now, at }
}
