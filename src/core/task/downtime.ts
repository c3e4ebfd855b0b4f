/**
 * Handles a downtime of the host: waits of sensors are moved, dropped, or continue as if the time had passed.
 *
 * DOWNTIME-1 missing data is not reported before it has been missing for its duration, or ten minutes, after the start.
 * DOWNTIME-2 what must be confirmed shows nothing before a run of its sensor after the start.
 */
import type { Graph, SensorNode } from '../graph/graph.ts'
import { earliestEnd, type Downtime, type DowntimePolicy } from '../plug/downtime.ts'
import type { Answer } from '../plug/result.ts'
import type { SharedSettings } from '../rule/settings.ts'
import { cancel } from './execution.ts'
import { resourceOf, type TaskRun } from './run.ts'
import type { DowntimeInterval } from './saved.ts'
import { sensorState } from './state.ts'

/** Shorter downtimes, in ms, are ignored. */
const SHORTEST_MS = 2_000
/** Downtimes closer than this, in ms, count as one, since waits that the earlier one moved are still open. */
const APART_MS = 600_000

type Ruled = { readonly graph: Pick<Graph, 'sensors'>; readonly settings: Pick<SharedSettings, 'downtime'> }

export function isDowntimeSensitive({ graph, settings }: Ruled): boolean {
  return graph.sensors.some((node) => policyOf(settings, node) !== 'continue')
}

export function isAffectedBy(
  ruled: Ruled & { readonly settings: { readonly reorderMs: number } },
  away: DowntimeInterval,
): boolean {
  return away.until - away.from > Math.max(ruled.settings.reorderMs, SHORTEST_MS) && isDowntimeSensitive(ruled)
}

function policyOf(settings: Ruled['settings'], { downtime, call }: SensorNode): DowntimePolicy {
  return downtime ?? settings.downtime ?? call.plug.downtime ?? 'continue'
}

/** Returns the last downtime that overlaps the sensor's readings; undefined also if it counts as time that passed. */
export function downtimeOf({ state, model }: Pick<TaskRun, 'state' | 'model'>, node: SensorNode): Downtime | undefined {
  const { downtime, readings } = state
  if (downtime === null) return undefined
  const policy = policyOf(model.settings, node)
  if (policy === 'continue') return undefined
  const resource = resourceOf({ state, model }, node) ?? model.resource ?? ''
  const known = Object.hasOwn(downtime.lags, resource) ? downtime.lags[resource] : readings?.newest.get(resource)?.lag
  const lag = model.settings.time === 'arrival' ? 0 : (known ?? 0)
  return { policy, from: downtime.from - lag, until: downtime.until - lag + model.settings.reorderMs }
}

export function resumeAfter(run: TaskRun, away: DowntimeInterval): void {
  const { state, model } = run
  if (state.status !== 'running' || !isAffectedBy(model, away)) return
  const before = state.downtime
  const from = before !== null && away.from - before.until < APART_MS ? before.from : away.from
  const lags = [...(state.readings?.newest ?? [])].map(([resource, { lag }]) => [resource, lag] as const)
  state.downtime = { from, until: away.until, lags: Object.fromEntries(lags) }
  const passed = away.until - away.from
  for (const node of model.graph.sensors) {
    const downtime = downtimeOf(run, node)
    if (downtime === undefined || state.work === null) continue
    const sensor = sensorState(state, node)
    const { follow, running } = sensor
    const held = running?.phase === 'holding' ? running : null
    if (downtime.policy === 'confirm') {
      sensor.follow = null
      if (held !== null) cancel(run, held)
      continue
    }
    if (follow !== null) sensor.follow = { ...follow, at: restarted(follow.at + passed, downtime, follow.answer) }
    if (held?.held) held.wakeAt = restarted(held.wakeAt + passed, downtime, held.held)
  }
}

/** Returns the end of a wait that a run begins; readings since a run before the downtime's end may be lost. */
export function endOfFollow(run: TaskRun, node: SensorNode, then: Answer): number {
  const at = run.now + (then.after ?? 0)
  const downtime = downtimeOf(run, node)
  return downtime?.policy === 'restart' && run.now < downtime.until ? restarted(at, downtime, then) : at
}

function restarted(at: number, downtime: Downtime, { whole, after = 0 }: Answer): number {
  return Math.max(at, earliestEnd(downtime, whole ?? after))
}
