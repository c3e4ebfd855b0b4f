/** Determines when results of a sensor that wait for their time are due. */
import type { SensorState } from './state.ts'

/** Returns epoch ms in the time of the task; Infinity without such a result. */
export function resultDueAt({ follow, running }: SensorState): number {
  if (follow !== null) return follow.at
  return running?.phase === 'holding' || running?.phase === 'paused' ? running.wakeAt : Number.POSITIVE_INFINITY
}

/** Returns the ms by which the clock was ahead when the wait began. */
export function resultLag({ follow, running }: SensorState): number {
  return follow?.lag ?? running?.wakeLag ?? 0
}
