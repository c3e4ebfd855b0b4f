/** Creates the retention service of a host. */
import { machineTimers } from '#platform'
import { Retention, retentionRoutes } from '#services/retention'
import { errorBodyOfLines } from '#services/shared'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'

export const makeRetention: MakeService = ({ now, logger, tenants }) => ({
  name: 'retention',
  description: 'How long data is kept',
  errorBody: errorBodyOfLines,
  routes: (app) => retentionRoutes(app, { service: ofCaller(tenants, ({ retention }) => retention) }),
  open: ({ tenant, store, services }) => {
    const retention = new Retention({
      store,
      now,
      monotonic: machineTimers.elapsed,
      typeOf: async (id) => {
        const type = (await services.resources?.lookup(id))?.['resourceTypeId']
        return typeof type === 'string' ? type : undefined
      },
      later: machineTimers.later,
      logger,
    })
    const warnings = () => retention.warnings().map((text) => `tenant ${tenant}: ${text}`)
    const life = { start: () => retention.start(), stop: () => retention.stop(), warnings }
    return { provides: { retention }, life }
  },
})
