/** Loads the implementations of the port, and the packages they need, on first use. */
import type { Connectors } from './port.ts'

export const CONNECTORS: Connectors = {
  kafka: async () => (await import('./kafka/kafka-connector.ts')).kafkaConnector,
  mqtt: async () => (await import('./mqtt/mqtt-connector.ts')).mqttConnector,
  sparkplug: async () => (await import('./sparkplug/sparkplug-connector.ts')).sparkplugConnector,
}
