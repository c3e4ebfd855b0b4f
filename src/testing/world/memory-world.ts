/** Provides alarms, resources, data and queries in memory, to test how rules that act on them affect each other. */
import type { AlarmPort, DataPort, Message, PlugServices, QueryPort, ResourcePort } from '#core'
import type { PlainObject } from '#core/spi'
import { AppError } from '#kernel'
import { loadSeries, MemorySeries } from './memory-series.ts'

/** An alarm as plugs and properties see it. Times are ISO 8601. */
export interface MemoryAlarm extends PlainObject {
  readonly id: string
  readonly source: { readonly id: string }
  readonly type: string
  readonly text: string
  readonly severity: string
  readonly status: string
  readonly count: number
}

export interface MemoryWorldOptions {
  readonly resources?: Readonly<Record<string, PlainObject>>
  /** stored messages by resource, each with a `timestamp` in epoch ms; a world begins at 2025-03-03T06:00Z */
  readonly stored?: Readonly<Record<string, readonly PlainObject[]>>
  /** stored time series queries, by name */
  readonly queries?: Readonly<Record<string, PlainObject>>
}

export interface WorldState {
  /** oldest first */
  readonly alarms: readonly MemoryAlarm[]
  readonly resources: ReadonlyMap<string, PlainObject>
  /** stored messages of devices and rules, by resource, in order of arrival */
  readonly stored: ReadonlyMap<string, readonly PlainObject[]>
  /** sent commands, by resource, oldest first */
  readonly commands: ReadonlyMap<string, readonly PlainObject[]>
}

export interface MemoryServices extends PlugServices {
  readonly alarms: AlarmPort
  readonly resources: ResourcePort
  readonly data: DataPort
  readonly queries: QueryPort
  /** Prepares the services before a run, so that they respond without delay. */
  ready(): Promise<void>
  /** Stores a device message, whose timestamp is epoch ms. */
  arrived(message: Message): void
  state(): WorldState
}

export interface WorldAround {
  now(): number
  forward(resource: string, message: PlainObject): void
}

/**
 * Creates the services of each run. Device messages are stored, as on a host, and rules read them in series and
 * queries.
 */
export function memoryWorld(options: MemoryWorldOptions = {}): (around: WorldAround) => MemoryServices {
  return (around) => {
    const alarms: MemoryAlarm[] = []
    const resources = new Map(Object.entries(options.resources ?? {}))
    const series = new MemorySeries({ now: around.now, queries: options.queries ?? {} })
    const stored = new Map<string, readonly PlainObject[]>()
    const commands = new Map<string, readonly PlainObject[]>()
    const arrived = (message: Message): void => {
      series.add(message)
      addTo(stored, message.resource, message)
    }
    for (const [resource, messages] of Object.entries(options.stored ?? {}))
      for (const message of messages) arrived({ ...message, resource })
    return {
      alarms: alarmsIn(alarms, around),
      resources: resourcesIn(resources),
      data: dataIn(series, arrived, commands, around),
      queries: { execute: (source, how) => series.execute(source, how) },
      ready: loadSeries,
      arrived,
      state: () => ({
        alarms: [...alarms],
        resources: new Map(resources),
        stored: new Map(stored),
        commands: new Map(commands),
      }),
    }
  }
}

const SEVERITIES = ['CRITICAL', 'MAJOR', 'MINOR', 'WARNING']

function alarmsIn(alarms: MemoryAlarm[], { now }: WorldAround): AlarmPort {
  const put = (alarm: MemoryAlarm, change: Partial<MemoryAlarm>): MemoryAlarm => {
    const changed = { ...alarm, ...change, lastUpdated: new Date(now()).toISOString() }
    alarms[alarms.findIndex(({ id }) => id === alarm.id)] = changed
    return changed
  }
  const isOpen = ({ status }: MemoryAlarm): boolean => status !== 'CLEARED'
  const isOf = (source: string, type: string) => (alarm: MemoryAlarm) =>
    alarm.source.id === source && alarm.type === type
  return {
    raise({ source, type, text, severity, timestamp, onRepeat = 'count', properties = {} }) {
      const open = alarms.filter(isOf(source, type)).find(isOpen)
      if (open !== undefined) {
        const isHigher = SEVERITIES.indexOf(severity) < SEVERITIES.indexOf(open.severity)
        const isTaken = onRepeat === 'replace' || (onRepeat === 'highest' && isHigher)
        return Promise.resolve(put(open, { count: open.count + 1, ...(isTaken && { text, severity }) }))
      }
      const time = new Date(now()).toISOString()
      const given = typeof timestamp === 'string' || typeof timestamp === 'number' ? new Date(timestamp) : undefined
      const id = `alarm-${alarms.length + 1}`
      const about = { source: { id: source }, type, text, severity, status: 'ACTIVE', count: 1 }
      const alarm = {
        ...properties,
        id,
        ...about,
        creationTime: time,
        timestamp: given?.toISOString() ?? time,
        lastUpdated: time,
      }
      alarms.push(alarm)
      return Promise.resolve(alarm)
    },
    update(id, change) {
      const alarm = alarms.find((one) => one.id === id)
      if (alarm === undefined) return Promise.reject(new AppError('NOT_FOUND', `unknown alarm ${id}`))
      const { comment, shelve, ...fields } = change
      const comments = [...(Array.isArray(alarm['comments']) ? (alarm['comments'] as readonly unknown[]) : []), comment]
      const shelved = shelve && { suppression: 'shelved', snoozeUntil: shelve.until }
      return Promise.resolve(put(alarm, { ...fields, ...shelved, ...(comment !== undefined && { comments }) }))
    },
    clear: (source, type) =>
      Promise.resolve(
        alarms
          .filter(isOf(source, type))
          .filter(isOpen)
          .map((alarm) => put(alarm, { status: 'CLEARED' })),
      ),
    latest: (source) => Promise.resolve(alarms.findLast((alarm) => alarm.source.id === source)),
    find({ source, status, type }) {
      const found = alarms.filter(
        (alarm) =>
          (source === undefined || alarm.source.id === source) &&
          (status === undefined || status.includes(alarm.status)) &&
          (type === undefined || type.includes(alarm.type)),
      )
      return Promise.resolve({ total: found.length, alarms: found.toReversed() })
    },
  }
}

function resourcesIn(resources: Map<string, PlainObject>): ResourcePort {
  const whole = (id: string): PlainObject => ({ ...resources.get(id), id })
  return {
    get: (id) => Promise.resolve(resources.has(id) ? whole(id) : undefined),
    patch(id, change) {
      if (!resources.has(id)) return Promise.reject(new AppError('NOT_FOUND', `unknown resource ${id}`))
      const kept = Object.entries({ ...resources.get(id), ...change }).filter(([, value]) => value !== null)
      resources.set(id, Object.fromEntries(kept))
      return Promise.resolve(whole(id))
    },
    children: (id) =>
      Promise.resolve([...resources.keys()].filter((one) => resources.get(one)?.['parentId'] === id).map(whole)),
    find: (query) =>
      Promise.resolve(
        [...resources.keys()]
          .map(whole)
          .filter((one) => Object.entries(query).every(([key, value]) => one[key] === value)),
      ),
  }
}

function dataIn(
  series: MemorySeries,
  arrived: (message: Message) => void,
  commands: Map<string, readonly PlainObject[]>,
  { now, forward }: WorldAround,
): DataPort {
  return {
    post(resource, message, how) {
      const timed = { timestamp: now(), ...message, resource }
      if (how.store) arrived(timed)
      if (how.forward) forward(resource, timed)
      return Promise.resolve()
    },
    command(resource, command) {
      addTo(commands, resource, command)
      return Promise.resolve({ ...command, resource })
    },
    messages: (resource, limit) => series.messages(resource, limit),
    latest: (resource) => series.latest(resource),
    series: (query) => series.query(query),
  }
}

/** Creates a new list instead of changing the old one, which snapshots keep. */
function addTo(lists: Map<string, readonly PlainObject[]>, resource: string, one: PlainObject): void {
  lists.set(resource, [...(lists.get(resource) ?? []), one])
}
