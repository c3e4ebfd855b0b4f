/**
 * Late readings for plugs that absorb them: kept until the sensor's next call, which only takes them into its memory.
 *
 * ABSORB-1 each is handed to calls until one of them answers with success.
 */
import type { SensorNode } from '../../graph/graph.ts'
import type { Message } from '../origin.ts'
import type { TaskRun } from '../run.ts'
import { sensorState, type Execution, type SensorState } from '../state.ts'

/** late readings of a sensor that are kept; later ones are dropped */
const MAX_ABSORBED = 100

/** A reading that is dropped, because the sensor has taken a newer one. */
export function keepLate({ call }: SensorNode, sensor: SensorState, message: Message): void {
  if (call.plug.absorbs === 'late' && sensor.late.length < MAX_ABSORBED) sensor.late = [...sensor.late, message]
}

/** A sensor has answered with success: its memory has what its call could see. */
export function tookLate({ state }: TaskRun, { node, late }: Execution): void {
  if (late === 0 || node.kind !== 'sensor') return
  const sensor = sensorState(state, node)
  sensor.late = sensor.late.slice(late)
}

/** What a call can see of them. */
export function lateOf({ state }: Pick<TaskRun, 'state'>, { node, late }: Execution): readonly Message[] {
  return node.kind === 'sensor' ? sensorState(state, node).late.slice(0, late) : []
}
