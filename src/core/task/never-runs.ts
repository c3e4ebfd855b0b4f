/** Finds sensors that no data, tick, clock or trigger runs. */
import type { SensorNode } from '../graph/graph.ts'
import type { TaskModel } from './run.ts'

/** Returns text that completes "t never runs: ..."; undefined if something runs it, or states are pushed to it. */
export function whyNeverRun(sensor: SensorNode, { schedule }: Pick<TaskModel, 'schedule'>): string | undefined {
  if (sensor.conditional || sensor.pollingPeriod !== undefined || sensor.schedule !== undefined) return undefined
  const hasClock = schedule !== undefined
  if (sensor.onData || (sensor.onTick && hasClock)) return undefined
  const isBound = sensor.resource !== -1
  if (isBound && !sensor.onTick) return undefined
  const data = isBound ? 'its dataTrigger is false' : 'it has no resource'
  const bind = isBound ? 'omit dataTrigger' : 'write "resource": "$" for the resource of the task'
  if (sensor.channel !== undefined) return `${data} and runs on the channel ${sensor.channel} of one; ${bind}`
  return hasClock
    ? `${data}, no trigger leads to it, and its tickTrigger is false; ${bind}, or omit tickTrigger`
    : `${data}, no trigger leads to it, and neither it nor the task has a clock; ${bind}, or add a pollingPeriod or a trigger`
}
