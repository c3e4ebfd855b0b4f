/** Creates the resources service of a host. */
import { actuatorCall } from './actuator-call.ts'
import { managedTasks } from './managed-tasks.ts'
import { resourceCascades } from './resource-cascades.ts'
import { Resources, RECONCILED_AT_ONCE, resourcesErrorBody, resourcesRoutes } from '#services/resources'
import { JobSlots } from '#jobs'
import { Semaphore } from '#kernel'
import { machineTimers } from '#platform'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'

export const makeResources: MakeService = ({ figures, now, logger, tenants }) => {
  const slots = new JobSlots()
  const limit = new Semaphore(RECONCILED_AT_ONCE)
  figures.queue('resource-operations', ({ resources }) => resources?.gauges().openOperations)
  figures.queue('resource-upkeep', ({ resources }) => resources?.gauges().upkeepWaiting)
  figures.queue('resource-event-streams', ({ resources }) => resources?.gauges().eventStreams)
  return {
    name: 'resources',
    description: 'Resources, their types and constraints, with their history',
    example: '/api/resources',
    errorBody: resourcesErrorBody,
    routes: (app) => resourcesRoutes(app, { service: ofCaller(tenants, ({ resources }) => resources) }),
    open: ({ tenant, store, services }) => {
      const resources = new Resources({
        tenant,
        store,
        limit,
        now,
        newId: machineTimers.newId,
        slots,
        logger,
        managedTasks: managedTasks(tenant, () => services.rules),
        actuators: actuatorCall(tenant, () => services.rules),
        removed: async (resource) => {
          await services.rules?.deleteInputs(resource)
          await services.broker?.resourceRemoved(resource)
        },
        cascades: resourceCascades({
          tenant,
          alarms: () => services.alarms,
          broker: () => services.broker,
          rules: () => services.rules,
        }),
      })
      return { provides: { resources, work: resources }, life: resources }
    },
  }
}
