/** Adds a listener for MQTT to the broker of a host. */
import type { BrokerService } from '#services/broker/contract'
import type { MqttListener } from '#services/broker/mqtt'
import type { ConverterService } from '#services/converter/contract'
import { machineTimers } from '#platform'
import type { HostedService } from '../hosted-service.ts'
import type { ServiceDependencies } from './service-dependencies.ts'

/** The broker as the host serves it, with its listener for MQTT when the host is to have one. */
export function withMqtt(
  hosted: HostedService,
  broker: BrokerService,
  {
    config,
    checkPair,
    gauges,
    logger,
    otherHosts,
  }: Pick<ServiceDependencies, 'config' | 'checkPair' | 'gauges' | 'logger' | 'otherHosts'>,
  converter: () => ConverterService | undefined,
): HostedService {
  const { mqtt, host, limits } = config
  if (mqtt === undefined) return hosted
  let listener: MqttListener | undefined
  gauges.watchTotal('mqtt-refused', () => listener?.counts.refused ?? 0)
  gauges.watchTotal('mqtt-faults', () => listener?.counts.faults ?? 0)
  gauges.watchTotal('mqtt-wrong-credentials', () => listener?.counts.wrongCredentials ?? 0)
  return {
    ...hosted,
    address: () => listener && `mqtt://${host.includes(':') ? `[${host}]` : host}:${listener.port}`,
    async start(closing) {
      await hosted.start(closing)
      // Only when it is asked for: the package that reads MQTT is not everybody's.
      const { openMqtt } = await import('#services/broker/mqtt')
      listener = await openMqtt({
        api: (caller) => broker.as(caller),
        authenticate: checkPair,
        convert: async (caller, topic, payload) => (await converter()?.take(caller, topic, payload)) ?? false,
        others: otherHosts,
        host,
        port: mqtt,
        newId: () => `reflexarc-${machineTimers.newId()}`,
        report: (what, details) => logger.warn(what, details),
        limits: { packetBytes: limits.bodyBytes },
      })
    },
    async stop() {
      await listener?.close()
      await hosted.stop()
    },
  }
}
