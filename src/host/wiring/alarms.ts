/** Connects rules and alarms: the port for plugs, forwarding of events, and causes of alarms. */
import { AppError } from '#kernel'
import type { AlarmPort } from '#core'
import type { PlainObject } from '#core/spi'
import type {
  Alarm,
  AlarmForwarding,
  AlarmsApi,
  ChangeOptions,
  InternalAlarms,
  CauseReader,
} from '#services/alarms/contract'
import type { InternalResources } from '#services/resources/contract'
import type { InternalRules } from '#services/rules/contract'

const ENGINE = 'system/engine'
const CHANNEL = 'alarm'
const MAX_FOUND = 100

export function alarmPort(tenant: string, alarms: () => InternalAlarms | undefined): AlarmPort {
  const caller = { tenant, user: ENGINE }
  const served = (): InternalAlarms => {
    const service = alarms()
    if (service === undefined) throw new AppError('CLOSED', 'this host does not serve alarms')
    return service
  }
  const api = (): AlarmsApi => served().as(caller)
  return {
    raise: async ({ source, onRepeat, properties, ...parts }, cause) => {
      const body = { ...properties, source: { id: source }, ...parts }
      return briefly(await api().raise(body, { cause, history: 'newest', ...(onRepeat && { onRepeat }) }))
    },
    // without the alarms service, nothing is checked
    check: ({ properties, ...parts }) => alarms()?.check({ ...withoutParts(properties), ...parts }) ?? [],
    update: async (id, change, cause) => briefly(await changed(api(), id, change, { cause, history: 'newest' })),
    clear: async (source, type, cause) => (await served().clear(source, type, cause)).map(briefly),
    latest: async (source) => {
      const { alarms: found } = await api().list({ source, size: 1, history: false })
      const [newest] = found
      return newest && briefly(newest)
    },
    find: async ({ source, status, type, history = false }) => {
      const query = { ...(source !== undefined && { source }), ...(status && { status }), ...(type && { type }) }
      const { total, alarms: found } = await api().list({ ...query, size: MAX_FOUND, history })
      return { total, alarms: history ? found.map(plain) : found.map(briefly) }
    },
  }
}

type AlarmPortChange = Parameters<AlarmPort['update']>[1]

function changed(
  api: AlarmsApi,
  id: string,
  { comment, shelve, ...change }: AlarmPortChange,
  options: ChangeOptions,
): Promise<Alarm> {
  if (shelve !== undefined) return api.shelve(id, shelve, options)
  if (change.status === 'ACKNOWLEDGED' && comment !== undefined) return api.acknowledge(id, { comment }, options)
  return comment === undefined ? api.update(id, change, options) : api.comment(id, { text: comment }, options)
}

function withoutParts(properties: PlainObject = {}): PlainObject {
  const { source: _source, type: _type, text: _text, severity: _severity, ...others } = properties
  return others
}

function plain(alarm: Alarm): PlainObject {
  return { ...alarm }
}

/** Removes the history, since nodes store what plugs return. */
function briefly({ history: _history, ...alarm }: Alarm): PlainObject {
  return alarm
}

/** A tree is at most this deep, so that a loop of parents ends. */
const MAX_DEPTH = 50

export function ancestorsIn(resources: () => InternalResources | undefined) {
  return async (resource: string): Promise<readonly string[]> => {
    const above: string[] = []
    for (let id: unknown = resource; typeof id === 'string' && above.length < MAX_DEPTH;) {
      id = (await resources()?.lookup(id))?.['parentId']
      if (typeof id === 'string') above.push(id)
    }
    return above
  }
}

type Received = Parameters<AlarmForwarding['receive']>

export interface ChannelIntake {
  receive(
    posts: readonly ({ readonly messages: Received[0]; readonly channel: string } & Omit<Received[1], 'writes'>)[],
    writes: Received[1]['writes'],
  ): Promise<unknown>
}

export function alarmForwarding(intake: ChannelIntake): AlarmForwarding {
  return {
    receive: (message, { writes, ...sent }) =>
      intake.receive([{ messages: message, ...sent, channel: CHANNEL }], writes),
  }
}

export function causeReader(tenant: string, rules: () => InternalRules | undefined): CauseReader {
  return {
    explain: async ({ task, node }) => {
      const inspection = rules()?.as({ tenant, user: ENGINE }).inspection
      if (inspection === undefined) return null
      // sentences follow from the rest
      const { text: _text, ...stored } = await inspection.explain(task, node)
      return stored
    },
  }
}
