/** A task as it is at one moment, for calls that act and go on while the task does: what they see does not change. */
import type { TaskRun } from './run.ts'
import { TaskState } from './task-state.ts'

export function frozenRun({ model, state, sink, now, at }: TaskRun): TaskRun {
  const copy = new TaskState(model.graph, model.resources.length)
  const { status, run, seed, invocations } = state
  Object.assign(copy, { status, run, seed, invocations })
  const { work } = state
  if (work !== null) {
    // What their fields hold is replaced as a whole when it changes.
    for (const [slot, sensor] of copy.sensors.entries()) Object.assign(sensor, work.sensors[slot])
    for (const [slot, gate] of copy.gates.entries()) Object.assign(gate, work.gates[slot])
    for (const [slot, actuator] of copy.actuators.entries()) Object.assign(actuator, work.actuators[slot])
    for (const [place, stream] of work.streams.entries()) {
      copy.streams[place] = stream && { ...stream, carried: stream.carried && new Map(stream.carried) }
    }
  }
  return { model, state: copy, sink, now, at }
}
