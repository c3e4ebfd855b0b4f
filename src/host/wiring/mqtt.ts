/** Opens the MQTT listener of a host, if one is configured. */
import type { BrokerService } from '#services/broker/contract'
import type { MqttListener } from '#services/broker/mqtt'
import { machineTimers } from '#platform'
import type { HostedService } from '../hosted-service.ts'
import type { ServiceDependencies } from './service-dependencies.ts'

export function mqttListener(
  broker: BrokerService,
  { config, checkPair, openStreams, gauges, logger, otherHosts, tenants }: ServiceDependencies,
): Pick<HostedService, 'address' | 'start' | 'stop'> {
  const { mqtt, host, limits } = config
  if (mqtt === undefined) return {}
  let listener: MqttListener | undefined
  gauges.watchTotal('mqtt-refused', () => listener?.counts.refused ?? 0)
  gauges.watchTotal('mqtt-faults', () => listener?.counts.faults ?? 0)
  gauges.watchTotal('mqtt-wrong-credentials', () => listener?.counts.wrongCredentials ?? 0)
  return {
    address: () => listener && `mqtt://${host.includes(':') ? `[${host}]` : host}:${listener.port}`,
    async start() {
      // Loaded only on demand: the package that parses MQTT is optional.
      const { openMqtt } = await import('#services/broker/mqtt')
      listener = await openMqtt({
        api: (caller) => broker.as(caller),
        authenticate: async (...shown) => {
          const caller = await checkPair(...shown)
          if (caller !== undefined && otherHosts === undefined) await tenants.opened(caller.tenant)
          return caller
        },
        watch: (caller, end) => openStreams.add(caller, end),
        convert: async (caller, topic, payload) =>
          (await tenants.of(caller.tenant).converter?.take(caller, topic, payload)) ?? false,
        others: otherHosts,
        host,
        port: mqtt,
        newId: () => `reflexarc-${machineTimers.newId()}`,
        report: (what, details) => logger.warn(what, details),
        limits: { packetBytes: limits.bodyBytes },
      })
    },
    stop: () => listener?.close(),
  }
}
