/** Makes the alarms service of a host. */
import { alarmForwarding, causeReader } from './alarms.ts'
import { alarmsErrorBody, alarmsRoutes, createAlarmsService } from '#services/alarms'
import { machineTimers } from '#platform'
import type { MakeService } from './service-dependencies.ts'

/** Alarms over storage; events reach tasks as far as rules are served too. */
export const makeAlarms: MakeService = ({ storage, gauges, logger, now, serviceRegistry, reached }) => {
  const own = createAlarmsService({
    storage,
    now,
    newId: machineTimers.newId,
    engine: () => serviceRegistry.runner && alarmForwarding(serviceRegistry.runner.intake),
    causes: causeReader(() => serviceRegistry.rules),
    every: machineTimers.every,
    logger,
  })
  const service = reached('alarms', own)
  serviceRegistry.alarms = service
  gauges.watchQueue('alarm-batches', () => service.gauges().openBatches)
  gauges.watchQueue('alarm-streams', () => service.gauges().eventStreams)
  return {
    name: 'alarms',
    description: 'Conditions of resources that want care: raised, repeated, acknowledged, cleared',
    example: '/alarm/alarms',
    errorBody: alarmsErrorBody,
    routes: (app) => alarmsRoutes(app, { service }),
    start: (closing) => service.start(closing),
    stop: () => service.stop(),
  }
}
