/** Opens the MQTT listener of a host, if one is configured. */
import type { Server, Socket } from 'node:net'
import { createServer } from 'node:tls'
import type { KeyResources } from '#kernel'
import { type LookUp, requireOwn } from '#services/shared'
import type { SessionKeys } from '#services/broker'
import type { InternalBroker } from '#services/broker/contract'
import type { MqttListener } from '#services/broker/mqtt'
import { machineTimers } from '#platform'
import type { ApiKeys, KeyEntry } from '../auth/api-keys.ts'
import type { CheckedCaller } from '../auth/caller.ts'
import type { Certificates } from '../certificates.ts'
import type { HostedService } from '../hosted-service.ts'
import type { ServiceDependencies } from './service-dependencies.ts'

export function mqttListener(
  broker: Pick<InternalBroker, 'as'>,
  { config, certificates, checkPair, devices, openStreams, gauges, logger, otherHosts, tenants }: ServiceDependencies,
): Pick<HostedService, 'addresses' | 'start' | 'stop'> {
  const { mqtt, mqtts, mqttHost: host, limits } = config
  let listener: MqttListener | undefined
  gauges.watchMqttClients(() => listener?.connections ?? 0)
  if (mqtt === undefined && mqtts === undefined) return {}
  const named = host.includes(':') ? `[${host}]` : host
  const opened = async (caller: CheckedCaller | undefined) => {
    if (caller !== undefined && otherHosts === undefined) await tenants.opened(caller.tenant)
    return caller
  }
  gauges.watchTotal('mqtt-refused', () => listener?.counts.refused ?? 0)
  gauges.watchTotal('mqtt-faults', () => listener?.counts.faults ?? 0)
  gauges.watchTotal('mqtt-wrong-credentials', () => listener?.counts.wrongCredentials ?? 0)
  return {
    addresses: () => [
      ...(listener?.port ? [`mqtt://${named}:${listener.port}`] : []),
      ...(listener?.securePort ? [`mqtts://${named}:${listener.securePort}`] : []),
    ],
    async start() {
      // Loaded only on demand: the package that parses MQTT is optional.
      const { openMqtt } = await import('#services/broker/mqtt')
      listener = await openMqtt({
        api: (caller) => broker.as(caller),
        authenticate: async (key, secret, address, socket) => {
          const caller = await checkPair(key, secret, address)
          const certificate = devices?.shownOn(socket)
          if (caller !== undefined && certificate !== undefined) await devices?.requireSame(certificate, caller)
          return opened(caller)
        },
        certified: async (socket) => {
          const certificate = devices?.shownOn(socket)
          return opened(certificate && (await devices?.check(certificate)))
        },
        watch: (caller, end) => openStreams.add(caller, end),
        presence: async ({ tenant, user, rights }, clientId, isOnline) => {
          const { resources, presence } = tenants.of(tenant)
          const own = rights?.resources
          if (own === undefined || resources === undefined) return
          const resource = await deviceOf(own, clientId, (id) => resources.lookup(id))
          if (resource !== undefined) await presence?.change(resource, { clientId, user }, isOnline)
        },
        sessions: ({ tenant }) => tenants.of(tenant).broker?.kept.sessions,
        convert: async (caller, topic, payload) =>
          (await tenants.of(caller.tenant).converter?.take(caller, topic, payload)) ?? false,
        others: otherHosts,
        host,
        port: mqtt,
        secure: mqtts === undefined ? undefined : { port: mqtts, create: (welcome) => secured(certificates, welcome) },
        newId: () => `reflexarc-${machineTimers.newId()}`,
        report: (what, details) => logger.warn(what, details),
        limits: { packetBytes: limits.bodyBytes },
      })
    },
    stop: () => listener?.close(),
  }
}

/** Returns the resource of a device: the only one of its key, or the one that its client id names. */
async function deviceOf(own: KeyResources, clientId: string, lookUp: LookUp): Promise<string | undefined> {
  if ('ids' in own && own.ids.length === 1) return own.ids[0]
  try {
    await requireOwn(own, [{ path: '', resource: clientId }], lookUp)
    return clientId
  } catch {
    return undefined
  }
}

/** Ends sessions of removed keys. A key that is made again under its old name has a new mark. */
export function sessionKeys(
  tenant: string,
  keys: Pick<ApiKeys, 'get'>,
  openStreams: ServiceDependencies['openStreams'],
): SessionKeys {
  const find = async (key: string): Promise<KeyEntry | undefined> => {
    const entry = await keys.get(key)
    return entry?.tenant === tenant ? entry : undefined
  }
  return {
    mark: async (key) => (await find(key))?.createTime,
    watch: (key, mark, gone) => {
      const again = async (): Promise<CheckedCaller | undefined> => {
        const entry = await find(key)
        return entry?.createTime === mark ? { tenant, user: key, rights: entry.rights, until: 0 } : undefined
      }
      return openStreams.add({ tenant, user: key, again }, gone)
    },
  }
}

/** Time limit for the handshake of a connection, in ms */
const HANDSHAKE_MS = 10_000

function secured(certificates: Certificates | undefined, welcome: (socket: Socket) => void): Server {
  const server = createServer({ ...certificates?.options, handshakeTimeout: HANDSHAKE_MS }, welcome)
  certificates?.keep(server)
  return server
}
