/** Creates the connectors of a host. */
import { machineTimers } from '#platform'
import { CONNECTORS, connectorRoutes, TenantConnectors } from '#services/connectors'
import type { Connectors } from '#services/connectors/contract'
import { errorBodyOfLines } from '#services/shared'
import type { HostedService } from '../hosted-service.ts'
import { addressCheck } from './address-check.ts'
import type { MakeService, ServiceDependencies } from './service-dependencies.ts'
import { logOf, ofCaller } from './service-registry.ts'

export const makeConnectors: MakeService = (dependencies) => connectorsOver(CONNECTORS, dependencies)

export function connectorsOver(
  connectors: Connectors,
  { config, figures, logger, now, storeMark, tenants }: ServiceDependencies,
): HostedService {
  const deployment = storeMark ?? machineTimers.newId().slice(0, 8)
  figures.connectors(({ connectors }) => connectors?.gauges())
  const checkAddress = addressCheck(config.allowUrl)
  return {
    name: 'connectors',
    description: 'Sources and sinks: brokers of Kafka and MQTT that feed this host, or that it feeds',
    example: '/api/sources',
    errorBody: errorBodyOfLines,
    routes: (app) => connectorRoutes(app, { service: ofCaller(tenants, ({ connectors }) => connectors) }),
    open: ({ tenant, store, services }) => {
      const service = new TenantConnectors({
        tenant,
        deployment,
        store,
        log: logOf(services, store),
        connectors,
        broker: () => services.broker,
        converter: () => services.converter,
        resources: () => services.resources,
        vault: () => services.vault,
        alarms: () => services.alarms,
        firings: () => services.running?.runner.firings,
        checkAddress,
        now,
        later: machineTimers.later,
        logger,
      })
      return { provides: { connectors: service }, life: service }
    },
  }
}
