/** Makes the resources service of a host. */
import { actuatorCall } from './actuator-call.ts'
import { managedTasks } from './managed-tasks.ts'
import { resourceCascades } from './resource-cascades.ts'
import { createResourcesService, resourcesErrorBody, resourcesRoutes } from '#services/resources'
import { JobPlaces } from '#jobs'
import { machineTimers } from '#platform'
import type { ResourcesService } from '#services/resources/contract'
import type { MakeService } from './service-dependencies.ts'
import { storageOfOne } from './storage-of-one.ts'
import { ofCaller, served } from './service-registry.ts'

/** Resources, their types and constraints. */
export const makeResources: MakeService = ({ figures, now, logger, tenants }) => {
  const places = new JobPlaces()
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
    open: ({ tenant, store, services }) => {
      const resources = createResourcesService({
        tenant,
        storage: storageOfOne(tenant, store),
        now,
        newId: machineTimers.newId,
        places,
        logger,
        managedTasks: managedTasks(() => services.rules),
        actuators: actuatorCall(() => services.rules),
        cascades: resourceCascades({
          alarms: () => services.alarms,
          broker: () => services.broker,
          rules: () => services.rules,
        }),
      })
      return { provides: { resources, work: resources }, life: resources }
    },
  }
}
