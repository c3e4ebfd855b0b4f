/** Creates the maintenance windows of a host. */
import { machineTimers } from '#platform'
import { ignoringState, Maintenance, maintenanceRoutes, type PausableTasks } from '#services/maintenance'
import type { InternalRules, TaskApi } from '#services/rules/contract'
import { errorBodyOfLines } from '#services/shared'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'

const PAGE = 100
const USER = 'system/maintenance'

export const makeMaintenance: MakeService = ({ logger, now, tenants }) => ({
  name: 'maintenance',
  description: 'Maintenance windows: alarms that are held back, tasks that pause',
  example: '/alarm/windows',
  errorBody: errorBodyOfLines,
  routes: (app) => maintenanceRoutes(app, { service: ofCaller(tenants, ({ maintenance }) => maintenance) }),
  open: ({ tenant, store, services }) => {
    const maintenance = new Maintenance({
      tenant,
      store,
      alarms: () => services.alarms,
      tasks: () => services.rules && tasksOf(tenant, services.rules),
      now,
      later: machineTimers.later,
      logger,
    })
    return { provides: { maintenance }, life: maintenance }
  },
})

function tasksOf(tenant: string, rules: InternalRules): PausableTasks {
  const tasks: TaskApi = rules.as({ tenant, user: USER }).tasks
  return {
    running: async () => {
      const found: { readonly id: string; readonly resource?: string; readonly tags: object }[] = []
      for (;;) {
        const query = { where: { status: 'running' as const }, hits: PAGE, startIndex: found.length }
        const { values } = await tasks.list(query, { format: 'simplified', withoutGraph: true })
        for (const { ID, tags, resource } of values)
          found.push({ id: ID, tags, ...(typeof resource === 'string' && { resource }) })
        if (values.length < PAGE) return found
      }
    },
    stop: async (id) => {
      await tasks.stop(id).catch(ignoringState)
    },
    start: async (id) => {
      await tasks.start(id).catch(ignoringState)
    },
  }
}
