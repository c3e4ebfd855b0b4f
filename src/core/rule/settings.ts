/** Fills in defaults of task settings, and merges the settings of a request over the settings of a template. */
import { durationMs, type JsonObject } from '#kernel'
import type { DowntimePolicy } from '../plug/downtime.ts'
import type { DstPolicy, Rule, TaskSettings, TaskType, Template } from './rule.ts'

export interface NormalSettings {
  readonly name: string
  readonly start: boolean
  readonly type: TaskType
  readonly resource: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
  readonly resetObservations: boolean
  readonly resetScope: 'invocation' | 'task'
  readonly parallel: boolean
  readonly gatesNeedFullObservation: boolean
  /** ms between ticks; only for a periodic task */
  readonly frequency: number | undefined
  readonly pollingFixedRate: boolean
  readonly cron: string | undefined
  readonly rrule: string | undefined
  readonly timeZone: string
  readonly misfire: 'skip' | 'once' | 'all'
  readonly maxLatenessMs: number | undefined
  readonly maxMissed: number
  readonly overlap: 'skip' | 'queue' | 'cancelPrevious'
  /** ms for which a value of a message stays available; undefined: the engine's default */
  readonly streamValidity: number | undefined
  readonly whenBusy: 'queue' | 'latest' | 'skip'
  readonly late: 'drop' | 'take'
  /** ms for which readings wait to be put in order; 0: they do not wait */
  readonly reorderMs: number
  readonly time: 'event' | 'arrival'
  readonly duplicates: 'drop' | 'take'
  /** undefined: as each plug declares */
  readonly downtime: DowntimePolicy | undefined
  /** if absent, the default depends on the expression: one that runs every hour also runs in a repeated hour */
  readonly dst: DstPolicy
  readonly tags: JsonObject
}

export type SharedSettings = Omit<NormalSettings, 'resource' | 'name'>

export type SettingDefaults = Partial<Pick<NormalSettings, 'duplicates'>>

/**
 * `frequency` (ms) wins over `pollingInterval` (s). Throws `VALIDATION` when a `maxLateness` or `reorder` is not a
 * duration.
 */
export function normalizeSettings(
  settings: TaskSettings,
  { duplicates = 'drop' }: SettingDefaults = {},
): NormalSettings {
  const type = settings.type ?? typeOfClock(settings)
  const interval = settings.pollingInterval === undefined ? undefined : settings.pollingInterval * 1000
  return {
    name: settings.name ?? 'task',
    start: settings.start ?? true,
    type,
    resource: settings.resource === '' ? undefined : settings.resource,
    variables: settings.variables ?? {},
    resetObservations: settings.resetObservations ?? true,
    resetScope: settings.resetScope ?? 'invocation',
    parallel: settings.parallel ?? true,
    gatesNeedFullObservation: settings.gatesNeedFullObservation ?? false,
    frequency: type === 'periodic' ? (settings.frequency ?? interval) : undefined,
    pollingFixedRate: settings.pollingFixedRate ?? true,
    cron: type === 'scheduled' ? settings.cron : undefined,
    rrule: type === 'scheduled' ? settings.rrule : undefined,
    timeZone: settings.timeZone ?? 'UTC',
    misfire: settings.misfire ?? 'skip',
    maxLatenessMs: settings.maxLateness === undefined ? undefined : durationMs(settings.maxLateness),
    maxMissed: settings.maxMissed ?? 100,
    overlap: settings.overlap ?? 'skip',
    streamValidity: settings.streamValidity,
    whenBusy: settings.whenBusy ?? 'queue',
    ...lateOf(settings.late),
    time: settings.time ?? 'event',
    duplicates: settings.duplicates ?? duplicates,
    downtime: settings.downtime,
    dst: settings.dst ?? {},
    tags: settings.tags ?? {},
  }
}

function lateOf(late: TaskSettings['late'] = 'drop'): Pick<NormalSettings, 'late' | 'reorderMs'> {
  if (typeof late === 'string') return { late, reorderMs: 0 }
  return { late: late.then ?? 'drop', reorderMs: Math.ceil(durationMs(late.reorder)) }
}

const CLOCK_FIELDS = ['frequency', 'pollingInterval', 'cron', 'rrule'] as const

export function settingsOf(rule: Rule | Template): TaskSettings {
  return ('name' in rule ? rule.taskDefaults : rule.task) ?? {}
}

/** Tags and variables merge by key. A clock in the request replaces the whole clock of the defaults. */
export function mergeSettings(defaults: TaskSettings, request: TaskSettings): TaskSettings {
  const merged: TaskSettings = { ...defaults }
  const hasClock = CLOCK_FIELDS.some((field) => request[field] !== undefined)
  const changesType = request.type !== undefined && request.type !== defaults.type
  if (hasClock || changesType) for (const field of CLOCK_FIELDS) delete merged[field]
  // a default type that does not use the request's clock would disable that clock
  if (hasClock && request.type === undefined && typeOfClock(request) !== defaults.type) delete merged.type
  Object.assign(merged, request)
  if (defaults.tags && request.tags) merged.tags = { ...defaults.tags, ...request.tags }
  if (defaults.variables && request.variables) merged.variables = { ...defaults.variables, ...request.variables }
  return merged
}

function typeOfClock(settings: TaskSettings): TaskType {
  if (settings.frequency !== undefined || settings.pollingInterval !== undefined) return 'periodic'
  return settings.cron !== undefined || settings.rrule !== undefined ? 'scheduled' : 'reactive'
}
