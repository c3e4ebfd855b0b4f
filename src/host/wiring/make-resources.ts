/** Makes the resources service of a host. */
import { actuatorCall } from './actuator-call.ts'
import { managedTasks } from './managed-tasks.ts'
import { resourceCascades } from './resource-cascades.ts'
import { createResourcesService, resourcesErrorBody, resourcesRoutes } from '#services/resources'
import { machineTimers } from '#platform'
import type { MakeService } from './service-dependencies.ts'

/** Resources, their types and constraints. */
export const makeResources: MakeService = ({ storage, gauges, now, serviceRegistry, logger, reached }) => {
  const own = createResourcesService({
    storage,
    now,
    newId: machineTimers.newId,
    logger,
    managedTasks: managedTasks(() => serviceRegistry.rules),
    actuators: actuatorCall(() => serviceRegistry.rules),
    cascades: resourceCascades({
      alarms: () => serviceRegistry.alarms,
      broker: () => serviceRegistry.broker,
      rules: () => serviceRegistry.rules,
    }),
  })
  const service = reached('resources', own)
  serviceRegistry.resources = service
  serviceRegistry.work = own
  gauges.watchQueue('resource-operations', () => service.gauges().openOperations)
  gauges.watchQueue('resource-upkeep', () => service.gauges().upkeepWaiting)
  gauges.watchQueue('resource-event-streams', () => service.gauges().eventStreams)
  return {
    name: 'resources',
    description: 'Resources, their types and constraints, with their history',
    example: '/api/resources',
    errorBody: resourcesErrorBody,
    routes: (app) => resourcesRoutes(app, { service }),
    start: (closing) => service.start(closing),
    stop: () => service.stop(),
  }
}
