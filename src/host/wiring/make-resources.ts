/** Makes the resources service of a host. */
import { actuatorCall } from './actuator-call.ts'
import { managedTasks } from './managed-tasks.ts'
import { resourceCascades } from './resource-cascades.ts'
import { createResourcesService, resourcesErrorBody, resourcesRoutes } from '#services/resources'
import { machineTimers } from '#platform'
import type { ResourcesService } from '#services/resources/contract'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller, served } from './service-registry.ts'

/** Resources, their types and constraints. */
export const makeResources: MakeService = ({ figures, now, logger, tenants }) => {
  figures.queue('resource-operations', ({ resources }) => resources?.gauges().openOperations)
  figures.queue('resource-upkeep', ({ resources }) => resources?.gauges().upkeepWaiting)
  figures.queue('resource-event-streams', ({ resources }) => resources?.gauges().eventStreams)
  const service = {
    ...ofCaller(tenants, ({ resources }) => resources),
    changes: (...[tenant, options]: Parameters<ResourcesService['changes']>) =>
      served(tenants.of(tenant).resources).changes(tenant, options),
  }
  return {
    name: 'resources',
    description: 'Resources, their types and constraints, with their history',
    example: '/api/resources',
    errorBody: resourcesErrorBody,
    routes: (app) => resourcesRoutes(app, { service }),
    openShared: ({ storage, registry }) => {
      const resources = createResourcesService({
        storage,
        now,
        newId: machineTimers.newId,
        logger,
        managedTasks: managedTasks(() => registry.rules),
        actuators: actuatorCall(() => registry.rules),
        cascades: resourceCascades({
          alarms: () => registry.alarms,
          broker: () => registry.broker,
          rules: () => registry.rules,
        }),
      })
      registry.resources = resources
      registry.work = resources
      return resources
    },
  }
}
