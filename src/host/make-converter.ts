/** Makes the converter service of a host. */
import { converterErrorBody } from '../services/converter/error-body.ts'
import { converterRoutes } from '../services/converter/routes.ts'
import { createConverterService } from '../services/converter/service.ts'
import { machineTimers } from '../machine/timers.ts'
import type { MakeService } from './service-dependencies.ts'

/** Converters over storage; what they make goes to the broker and the resources as far as they are served too. */
export const makeConverter: MakeService = ({ storage, gauges, now, serviceRegistry, reached }) => {
  const own = createConverterService({
    storage,
    now,
    newId: machineTimers.newId,
    broker: () => serviceRegistry.broker,
    resources: () => serviceRegistry.resources,
  })
  const service = reached('converter', own)
  serviceRegistry.converter = service
  gauges.watchTotal('converter-forwarded', () => service.gauges().converted)
  gauges.watchTotal('converter-rejected', () => service.gauges().rejected)
  return {
    name: 'converter',
    description: 'Templates that make messages of whatever devices and gateways send',
    example: '/converter/',
    errorBody: converterErrorBody,
    routes: (app) => converterRoutes(app, { service }),
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  }
}
