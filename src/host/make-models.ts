/** Makes the models service of a host, and the drivers that run models. */
import { randomUUID } from 'node:crypto'
import { machineTimers } from '../machine/timers.ts'
import { modelsErrorBody } from '../services/models/error-body.ts'
import { modelsRoutes } from '../services/models/routes.ts'
import { createModelsService } from '../services/models/service.ts'
import { xgboostDriver } from '../services/models/xgboost/xgboost-driver.ts'
import type { MakeService } from './service-dependencies.ts'

/** Models over storage. */
export const makeModels: MakeService = ({ storage, gauges, logger, now, serviceRegistry }) => {
  const service = createModelsService({
    storage,
    drivers: [xgboostDriver({ breathe: machineTimers.breathe })],
    now,
    newId: () => randomUUID(),
    logger,
  })
  serviceRegistry.models = service
  gauges.watchQueue('models-loaded', () => service.gauges().loaded)
  gauges.watchTotal('models-called', () => service.gauges().calls)
  gauges.watchTotal('models-instances', () => service.gauges().instances)
  gauges.watchTotal('models-failed', () => service.gauges().failed)
  return {
    name: 'models',
    description: 'Machine-learning models of tenants: uploaded as zips, asked for predictions',
    example: '/models',
    errorBody: modelsErrorBody,
    routes: (app) => modelsRoutes(app, { service }),
    start: () => service.start(),
    stop: () => service.stop(),
  }
}
