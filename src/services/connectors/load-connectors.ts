/** Loads the implementations of the port, and the packages they need, on first use. */
import { AppError } from '#kernel'
import type { Connectors } from './port.ts'

const missing = async (): Promise<never> => {
  throw new AppError('UNSUPPORTED', 'this host has no connector of that type')
}

export const CONNECTORS: Connectors = {
  kafka: async () => (await import('./kafka/kafka-connector.ts')).kafkaConnector,
  mqtt: missing,
  sparkplug: missing,
}
