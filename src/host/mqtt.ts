/** Adds a listener for MQTT to the broker of a host. */
import { randomUUID } from 'node:crypto'
import type { BrokerService } from '../services/broker/contract.ts'
import { openMqtt, type MqttDoor } from '../services/broker/mqtt/door.ts'
import type { HostedService } from './service.ts'
import type { Parts } from './services.ts'

/** The broker as the host serves it, with its door for MQTT when the host is to have one. */
export function withMqtt(
  hosted: HostedService,
  broker: BrokerService,
  { config, checkPair }: Pick<Parts, 'config' | 'checkPair'>,
): HostedService {
  const { mqtt, host, limits } = config
  if (mqtt === undefined) return hosted
  let door: MqttDoor | undefined
  return {
    ...hosted,
    address: () => door && `mqtt://${host.includes(':') ? `[${host}]` : host}:${door.port}`,
    async start(closing) {
      await hosted.start(closing)
      door = await openMqtt({
        api: (caller) => broker.as(caller),
        authenticate: checkPair,
        host,
        port: mqtt,
        newId: () => `reflexarc-${randomUUID()}`,
        limits: { packetBytes: limits.bodyBytes },
      })
    },
    async stop() {
      await door?.close()
      await hosted.stop()
    },
  }
}
