/** Alarms, resources and data in memory, for rules that act on them: enough to see what rules do to each other. */
import type { AlarmPort, DataPort, PlainObject, PlugServices, ResourcePort } from '../../core/plug/services.ts'
import { AppError } from '../../kernel/errors.ts'

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

/** What a world is seeded with. */
export interface MemoryWorldOptions {
  /** metadata by id */
  readonly resources?: Readonly<Record<string, PlainObject>>
}

/** What the services have at some moment. */
export interface WorldState {
  /** oldest first */
  readonly alarms: readonly MemoryAlarm[]
  /** metadata by id */
  readonly resources: ReadonlyMap<string, PlainObject>
  /** messages that were stored, by resource, oldest first */
  readonly stored: ReadonlyMap<string, readonly PlainObject[]>
  /** commands that were sent, by resource, oldest first */
  readonly commands: ReadonlyMap<string, readonly PlainObject[]>
}

/** One of these stands behind the plugs of each run. */
export interface MemoryServices extends PlugServices {
  readonly alarms: AlarmPort
  readonly resources: ResourcePort
  readonly data: DataPort
  state(): WorldState
}

/** What services ask of the run that they stand in. */
export interface WorldAround {
  /** epoch ms */
  now(): number
  /** hands a message to the rules that listen */
  forward(resource: string, message: PlainObject): void
}

/** Makes the services of each run anew. Series are not there: a rule that asks for them is for a host. */
export function memoryWorld(options: MemoryWorldOptions = {}): (around: WorldAround) => MemoryServices {
  return (around) => {
    const alarms: MemoryAlarm[] = []
    const resources = new Map(Object.entries(options.resources ?? {}))
    const stored = new Map<string, PlainObject[]>()
    const commands = new Map<string, PlainObject[]>()
    return {
      alarms: alarmsIn(alarms, around),
      resources: resourcesIn(resources),
      data: dataIn(stored, commands, around),
      state: () => ({
        alarms: [...alarms],
        resources: new Map(resources),
        stored: new Map(stored),
        commands: new Map(commands),
      }),
    }
  }
}

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
    raise({ source, type, text, severity, properties = {} }) {
      const open = alarms.filter(isOf(source, type)).find(isOpen)
      if (open !== undefined) return Promise.resolve(put(open, { count: open.count + 1, text, severity }))
      const time = new Date(now()).toISOString()
      const id = `alarm-${alarms.length + 1}`
      const about = { source: { id: source }, type, text, severity, status: 'ACTIVE', count: 1 }
      const alarm = { ...properties, id, ...about, creationTime: time, timestamp: time, lastUpdated: time }
      alarms.push(alarm)
      return Promise.resolve(alarm)
    },
    update(id, change) {
      const alarm = alarms.find((one) => one.id === id)
      if (alarm === undefined) return Promise.reject(new AppError('NOT_FOUND', `there is no alarm ${id}`))
      return Promise.resolve(put(alarm, change))
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
      if (!resources.has(id)) return Promise.reject(new AppError('NOT_FOUND', `there is no resource ${id}`))
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
  stored: Map<string, PlainObject[]>,
  commands: Map<string, PlainObject[]>,
  { now, forward }: WorldAround,
): DataPort {
  const add = (to: Map<string, PlainObject[]>, resource: string, one: PlainObject): void => {
    to.set(resource, [...(to.get(resource) ?? []), one])
  }
  return {
    post(resource, message, how) {
      const timed = { timestamp: now(), ...message, resource }
      if (how.store) add(stored, resource, timed)
      if (how.forward) forward(resource, timed)
      return Promise.resolve()
    },
    command(resource, command) {
      add(commands, resource, command)
      return Promise.resolve({ ...command, resource })
    },
    messages: (resource, limit) => Promise.resolve((stored.get(resource) ?? []).toReversed().slice(0, limit)),
    latest(resource) {
      const newest = new Map<string, { metric: string; time: number; value: unknown }>()
      for (const { resource: _resource, timestamp, ...values } of stored.get(resource) ?? [])
        for (const [metric, value] of Object.entries(values))
          newest.set(metric, { metric, time: Number(timestamp), value })
      return Promise.resolve([...newest.values()])
    },
    series: () => Promise.reject(new AppError('CLOSED', 'a world in memory has no series; try the rule in a host')),
  }
}
