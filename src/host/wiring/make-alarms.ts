/** Creates the alarms service of a host. */
import { alarmForwarding, ancestorsIn, causeReader } from './alarms.ts'
import { alarmsRoutes, Alarms } from '#services/alarms'
import { errorBodyOfLines } from '#services/shared'
import { JobSlots } from '#jobs'
import { machineTimers } from '#platform'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'

export const makeAlarms: MakeService = ({ figures, logger, now, tenants }) => {
  const slots = new JobSlots()
  figures.queue('alarm-batches', ({ alarms }) => alarms?.gauges().openBatches)
  figures.byTenant('alarms', ({ alarms }) => alarms?.openBySeverity())
  figures.byTenant('alarmFigures', ({ alarms }) => alarms?.recentFigures())
  figures.queue('alarm-streams', ({ alarms }) => alarms?.gauges().eventStreams)
  return {
    name: 'alarms',
    description: 'Alarms of resources: raised, repeated, acknowledged, cleared',
    example: '/alarm/alarms',
    errorBody: errorBodyOfLines,
    routes: (app) => alarmsRoutes(app, { service: ofCaller(tenants, ({ alarms }) => alarms) }),
    open: ({ tenant, store, services }) => {
      const alarms = new Alarms({
        tenant,
        store,
        now,
        newId: machineTimers.newId,
        engine: () => services.runner && alarmForwarding(services.runner.intake),
        ancestors: ancestorsIn(() => services.resources),
        suppressor: () => services.maintenance,
        causes: causeReader(tenant, () => services.rules),
        every: machineTimers.every,
        slots,
        age: () => services.retention?.ageOf('alarms'),
        logger,
      })
      return { provides: { alarms }, life: alarms }
    },
  }
}
