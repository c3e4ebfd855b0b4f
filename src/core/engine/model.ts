/** Prepares the start of a task: resolves resources and creates clocks. */
import { makeDataPlan } from '../graph/data-plan.ts'
import type { DataPlan, Graph, SensorNode } from '../graph/graph.ts'
import { channelPlans } from '../graph/plan.ts'
import { resolveResource, type ResourceScope } from '../language/placeholders/resource.ts'
import type { Ports } from '../ports.ts'
import type { SharedSettings } from '../rule/settings.ts'
import { clockOf as expressionClock } from '../schedule/expression.ts'
import type { Schedule, ScheduleSettings } from '../schedule/schedule.ts'
import type { TaskModel } from '../task/run.ts'
import type { ClocksBegan } from '../task/saved.ts'
import type { Clocks } from './clocks.ts'
import type { Prepared } from './prepared.ts'

/** Shared by the many tasks whose sensors have no clocks of their own. */
const NO_SCHEDULES: ReadonlyMap<number, Schedule> = new Map()

export interface ModelLimits {
  readonly streamValidity: number
  readonly maxWaiting: number
  readonly identityIgnores: readonly string[]
  readonly dedupWindow: number
}

export function limitsOf(options: Partial<ModelLimits>): ModelLimits {
  const { streamValidity = 60_000, maxWaiting = 1000, identityIgnores = [], dedupWindow = 600_000 } = options
  return { streamValidity, maxWaiting, identityIgnores, dedupWindow }
}

/** Resolves every resource text in the graph. Throws `RESOLUTION`. */
export async function resolveResources(id: string, prepared: Prepared, ports: Ports): Promise<readonly string[]> {
  const { graph, settings, resource } = prepared
  const needsMetadata = graph.resources.some(({ spec }) => spec.kind === 'meta' || spec.kind === 'text')
  const metadata = needsMetadata && resource !== undefined ? await ports.metadata?.(resource) : undefined
  const scope: ResourceScope = {
    taskId: id,
    taskResource: resource,
    variable: (name) => settings.variables[name],
    metadata: () => metadata,
  }
  return graph.resources.map(({ spec }) => resolveResource(spec, scope))
}

/** Returns the resolved resources of a saved task. Tasks whose only resource is their own share its text. */
export function restoredResources(resources: readonly string[], { resource }: Prepared): readonly string[] {
  return resource !== undefined && resources.length === 1 && resources[0] === resource ? [resource] : resources
}

/** `start`: epoch ms; `began`: start times of clocks that began later. Throws `SCHEDULE`. */
export function buildModel(
  id: string,
  prepared: Prepared,
  resolved: readonly string[],
  start: number,
  limits: ModelLimits,
  clocks: Clocks,
  began: ClocksBegan = {},
): TaskModel {
  const { graph, properties, settings } = prepared
  const { resources, resourceIndex, dataPlans, channelPlans } = boundTo(resolved, graph)
  // No spread here: the resulting object would take more memory per task.
  return {
    id,
    graph,
    properties,
    settings,
    resource: prepared.resource,
    resources,
    resourceIndex,
    dataPlans,
    channelPlans,
    schedule: settings.type === 'reactive' ? undefined : clocks.parse(clockOf(settings, began.task ?? start)),
    sensorSchedules: sensorSchedules(graph, settings, clocks, (label) => startOf(began, label) ?? start),
    streamValidity: settings.streamValidity ?? limits.streamValidity,
    maxWaiting: limits.maxWaiting,
    identityIgnores: limits.identityIgnores,
    dedupWindow: limits.dedupWindow,
  }
}

function startOf({ sensors = {} }: ClocksBegan, label: string): number | undefined {
  return Object.hasOwn(sensors, label) ? sensors[label] : undefined
}

type Bound = Pick<TaskModel, 'resources' | 'resourceIndex' | 'dataPlans' | 'channelPlans'>

function boundTo(resolved: readonly string[], graph: Graph): Bound {
  const resources = resolved.length < 2 ? resolved : [...new Set(resolved)]
  if (resources.length === resolved.length) {
    const { resourceIndex, dataPlans, channelPlans } = graph
    return { resources: resolved, resourceIndex, dataPlans, channelPlans }
  }
  const resourceIndex = resolved.map((resource) => resources.indexOf(resource))
  return {
    resources,
    resourceIndex,
    dataPlans: joinedPlans(graph, resources.length, resourceIndex),
    channelPlans: channelPlans(graph.sensors, resources.length, (resource) => resourceIndex[resource] ?? -1),
  }
}

function joinedPlans(graph: Graph, count: number, resourceIndex: readonly number[]): readonly DataPlan[] {
  const sensors: SensorNode[][] = Array.from({ length: count }, () => [])
  for (const sensor of graph.sensors) {
    if (sensor.onData) sensors[resourceIndex[sensor.resource] ?? -1]?.push(sensor)
  }
  return sensors.map((list) => makeDataPlan(list))
}

function clockOf(settings: SharedSettings, start: number): ScheduleSettings {
  const { type, timeZone, dst } = settings
  const common = { start, timeZone, dst }
  if (type === 'onetime' || type === 'reactive') return { ...common, type }
  if (type === 'periodic') {
    return { ...common, type, frequency: settings.frequency ?? Number.NaN, pollingFixedRate: settings.pollingFixedRate }
  }
  return settings.rrule === undefined
    ? { ...common, type, cron: settings.cron ?? '' }
    : { ...common, type, rrule: settings.rrule }
}

function sensorSchedules(
  graph: Graph,
  settings: SharedSettings,
  clocks: Clocks,
  startsAt: (label: string) => number,
): ReadonlyMap<number, Schedule> {
  const { timeZone, dst } = settings
  if (graph.sensors.every(({ pollingPeriod, schedule }) => (pollingPeriod ?? schedule) === undefined))
    return NO_SCHEDULES
  const schedules = new Map<number, Schedule>()
  for (const sensor of graph.sensors) {
    const common = { start: startsAt(sensor.label), timeZone, dst }
    if (sensor.pollingPeriod !== undefined) {
      const { pollingPeriod: frequency, pollingFixedRate } = sensor
      schedules.set(sensor.slot, clocks.parse({ ...common, type: 'periodic', frequency, pollingFixedRate }))
    } else if (sensor.schedule !== undefined) {
      schedules.set(sensor.slot, clocks.parse({ ...common, ...expressionClock(sensor.schedule) }))
    }
  }
  return schedules
}
