/** Finds the due timers of a task's own time. */
import type { SensorNode } from '../graph/graph.ts'
import type { TaskRun } from './run.ts'
import { earliestMemberDue, memberActAt } from './members/load.ts'
import { resultDueAt, resultLag } from './sensor-timers.ts'

const NEVER = Number.POSITIVE_INFINITY

/** Returns the earliest due time, epoch ms; Infinity if none is set. */
export function earliestDue({ state }: TaskRun): number {
  let at = state.groups.length === 0 ? NEVER : earliestMemberDue({ state })
  for (const sensor of state.work?.sensors ?? []) at = Math.min(at, sensor.evictAt, resultDueAt(sensor))
  return at
}

/** Returns when the engine's clock lets the first of these timers act, epoch ms; Infinity if none is set. */
export function earliestAct({ state }: TaskRun): number {
  let at = NEVER
  for (const index of state.groups.keys()) at = Math.min(at, memberActAt({ state }, index))
  for (const sensor of state.work?.sensors ?? []) {
    at = Math.min(at, sensor.evictAt + sensor.evictLag, resultDueAt(sensor) + resultLag(sensor))
  }
  return at
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
