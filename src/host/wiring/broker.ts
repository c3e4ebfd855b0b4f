/** Connects rules and the broker: the data port of plugs, and the last values of variables. */
import { AppError, isPlainObject, withoutWritten } from '#kernel'
import type { Cause } from '#core/spi'
import type { DataPort, Ports } from '#core'
import type { BrokerApi, InternalBroker, PostOptions } from '#services/broker/contract'

const ENGINE = 'system/engine'

type Broker = () => InternalBroker | undefined

/** The execution's id prevents a repeated call from posting twice. */
export function dataPort(tenant: string, broker: Broker): DataPort {
  const api = (): BrokerApi => {
    const service = broker()
    if (service === undefined) throw new AppError('CLOSED', 'this host does not serve the broker')
    return service.as({ tenant, user: ENGINE })
  }
  // wait until the message that woke the rule can be read
  const reading = async (): Promise<BrokerApi> => {
    await broker()?.readable()
    return api()
  }
  return {
    post: async (resource, message, how, cause) => {
      await api().posting.events(resource, message, { ...how, ...tellingOf(cause) })
    },
    command: async (resource, command, cause) => {
      const { content } = await api().posting.command(resource, command, tellingOf(cause))
      return isPlainObject(content) ? content : {}
    },
    checkMessage: (message) => broker()?.check('events', message) ?? [],
    checkCommand: (command) => broker()?.check('commands', command) ?? [],
    messages: async (resource, limit) => {
      const kept = await (await reading()).messages.last(resource, 'events', limit)
      return kept.map((message) => withoutWritten(message))
    },
    latest: async (resource) => (await reading()).series.list(resource),
    series: async (query) => {
      const answer = await (await reading()).series.query(query)
      if ('series' in answer) return { ...answer }
      throw new AppError('VALIDATION', 'plugs request one series at a time; use an object, not an array')
    },
  }
}

function tellingOf(cause: Cause): Pick<PostOptions, 'hops' | 'root' | 'idempotencyKey' | 'cause'> {
  const { hops, root, effect } = cause
  return { hops, ...(root !== undefined && { root }), idempotencyKey: `effect ${effect}`, cause }
}

export function latestValue(tenant: string, broker: Broker): NonNullable<Ports['latestValue']> {
  return async (resource, metric) => {
    const service = broker()
    if (service === undefined) return undefined
    await service.readable()
    const { series } = await service.as({ tenant, user: ENGINE }).series.latest(resource, metric)
    return series[0]?.[1]
  }
}
