/** Sensors that wait for ever, because nothing runs them: a rule that forgets a resource is valid and does nothing. */
import type { SensorNode } from '../graph/graph.ts'
import type { TaskModel } from './run.ts'

/**
 * Why nothing ever runs a sensor by itself, and what would, as text that completes "t never runs: ...". Undefined for
 * one that a clock, data, events or a trigger run, and for one that has a resource but wants neither: it is meant for
 * pushed states alone.
 */
export function whyNeverRun(sensor: SensorNode, { schedule }: Pick<TaskModel, 'schedule'>): string | undefined {
  if (sensor.conditional || sensor.pollingPeriod !== undefined || sensor.schedule !== undefined) return undefined
  const hasClock = schedule !== undefined
  if (sensor.onData || (sensor.onTick && hasClock)) return undefined
  const isBound = sensor.resource !== -1
  if (isBound && !sensor.onTick) return undefined
  const data = isBound ? 'its dataTrigger is false' : 'it has no resource'
  const bind = isBound ? 'leave dataTrigger out' : 'write "resource": "$" for the resource of the task'
  if (sensor.channel !== undefined) return `${data} and it hears the channel ${sensor.channel} of one; ${bind}`
  return hasClock
    ? `${data}, no trigger leads to it, and its tickTrigger is false; ${bind}, or leave tickTrigger out`
    : `${data}, no trigger leads to it, and neither it nor the task has a clock; ${bind}, or give it a pollingPeriod or a trigger`
}
