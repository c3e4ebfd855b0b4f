/** Finds the due timers of a task's own time. */
import type { SensorNode } from '../graph/graph.ts'
import type { TaskRun } from './run.ts'
import type { SensorState } from './state.ts'

const NEVER = Number.POSITIVE_INFINITY

/** Returns the earliest due time, epoch ms; Infinity if none is set. */
export function earliestDue({ state }: TaskRun): number {
  let at = NEVER
  for (const sensor of state.work?.sensors ?? []) at = Math.min(at, sensor.evictAt, resultDueAt(sensor))
  return at
}

/** Returns when the engine's clock lets the first of these timers act, epoch ms; Infinity if none is set. */
export function earliestAct({ state }: TaskRun): number {
  let at = NEVER
  for (const sensor of state.work?.sensors ?? []) {
    at = Math.min(at, sensor.evictAt + sensor.evictLag, resultDueAt(sensor) + resultLag(sensor))
  }
  return at
}

function resultLag({ follow, running }: SensorState): number {
  return follow?.lag ?? running?.wakeLag ?? 0
}

export function expiredBy({ state, model }: TaskRun, time: number): readonly SensorNode[] {
  return model.graph.sensors.filter(({ slot }) => (state.work?.sensors[slot]?.evictAt ?? NEVER) <= time)
}

export function resultsDueBy({ state, model }: TaskRun, time: number): readonly SensorNode[] {
  return model.graph.sensors.filter(({ slot }) => {
    const sensor = state.work?.sensors[slot]
    return sensor !== undefined && resultDueAt(sensor) <= time
  })
}

function resultDueAt({ follow, running }: SensorState): number {
  if (follow !== null) return follow.at
  return running?.phase === 'holding' || running?.phase === 'paused' ? running.wakeAt : NEVER
}
