/**
 * Keeps late readings for plugs that absorb them, until the sensor's next call.
 *
 * ABSORB-1 each late reading is passed to calls until one of these calls succeeds.
 */
import type { SensorNode } from '../../graph/graph.ts'
import type { Message } from '../origin.ts'
import type { TaskRun } from '../run.ts'
import { sensorState, type Execution, type SensorState } from '../state.ts'

const MAX_ABSORBED = 100

export function keepLate({ call }: SensorNode, sensor: SensorState, message: Message): void {
  if (call.plug.absorbs === 'late' && sensor.late.length < MAX_ABSORBED) sensor.late = [...sensor.late, message]
}

export function markLateRead({ state }: TaskRun, { node, late }: Execution): void {
  if (late === 0 || node.kind !== 'sensor') return
  const sensor = sensorState(state, node)
  sensor.late = sensor.late.slice(late)
}

export function lateOf({ state }: Pick<TaskRun, 'state'>, { node, late }: Execution): readonly Message[] {
  return node.kind === 'sensor' ? sensorState(state, node).late.slice(0, late) : []
}
