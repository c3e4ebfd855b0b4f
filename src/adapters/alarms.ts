/** Rules and alarms: what plugs ask of alarms, what alarms tell the engine, and why an alarm was raised. */
import { AppError } from '../kernel/errors.ts'
import type { AlarmPort, Cause, PlainObject } from '../core/ports.ts'
import type { Alarm, AlarmForwarding, AlarmsApi, AlarmsService, CauseBook } from '../services/alarms/contract.ts'
import type { RulesService } from '../services/rules/contract.ts'

const ENGINE = 'system/engine'
/** Sensors of this channel hear alarms. */
const CHANNEL = 'alarm'
/** Alarms that a search gives. */
const MOST_FOUND = 100
const MOST_CLEARED = 1000

/** What the plugs of a tenant ask; `alarms` is asked at each call. */
export function alarmPort(tenant: string, alarms: () => AlarmsService | undefined): AlarmPort {
  const api = (): AlarmsApi => {
    const service = alarms()
    if (service === undefined) throw new AppError('CLOSED', 'this host serves no alarms')
    return service.as({ tenant, user: ENGINE })
  }
  return {
    raise: async ({ source, type, text, severity, properties }, cause) => {
      const body = { ...properties, source: { id: source }, type, text, severity }
      return briefly(await api().raise(body, { cause, history: 'newest' }))
    },
    update: async (id, change, cause) => briefly(await api().update(id, change, { cause, history: 'newest' })),
    clear: (source, type, cause) => clear(api(), source, type, cause),
    latest: async (source) => {
      const { alarms: found } = await api().list({ source, size: 1, history: false })
      const [newest] = found
      return newest && briefly(newest)
    },
    find: async ({ source, status, type, history = false }) => {
      const query = { ...(source !== undefined && { source }), ...(status && { status }), ...(type && { type }) }
      const { total, alarms: found } = await api().list({ ...query, size: MOST_FOUND, history })
      return { total, alarms: history ? found.map(plain) : found.map(briefly) }
    },
  }
}

async function clear(api: AlarmsApi, source: string, type: string, cause: Cause): Promise<readonly PlainObject[]> {
  const open = { source, type, status: ['ACTIVE', 'ACKNOWLEDGED'], size: MOST_CLEARED, history: false }
  const { alarms: found } = await api.list(open)
  const cleared: PlainObject[] = []
  for (const { id } of found) {
    try {
      cleared.push(briefly(await api.update(id, { status: 'CLEARED' }, { cause, history: 'newest' })))
    } catch (error) {
      // somebody was faster
      if (!(error instanceof AppError) || (error.code !== 'FINAL' && error.code !== 'NOT_FOUND')) throw error
    }
  }
  return cleared
}

function plain(alarm: Alarm): PlainObject {
  return { ...alarm }
}

/** Nodes keep what plugs give: a history does not belong there. */
function briefly({ history: _history, ...alarm }: Alarm): PlainObject {
  return alarm
}

/** The part of a runner that takes messages. */
export interface ChannelIntake {
  receive(
    tenant: string,
    message: Parameters<AlarmForwarding['receive']>[1],
    options: Parameters<AlarmForwarding['receive']>[2] & { readonly channel: string },
  ): Promise<unknown>
}

/** Events of alarms wake the sensors that hear the alarms of a resource. */
export function alarmForwarding(intake: ChannelIntake): AlarmForwarding {
  return {
    receive: (tenant, message, options) => intake.receive(tenant, message, { ...options, channel: CHANNEL }),
  }
}

/** What the rules say of a node now; `rules` is asked at each call, null while there are none. */
export function causeBook(rules: () => RulesService | undefined): CauseBook {
  return {
    explain: async (tenant, { task, node }) => {
      const inspection = rules()?.as({ tenant, user: ENGINE }).inspection
      return inspection === undefined ? null : inspection.explain(task, node)
    },
  }
}
