import { randomUUID } from 'node:crypto'
import { resourcesErrorBody } from '../services/resources/error-body.ts'
import { resourcesRoutes } from '../services/resources/routes.ts'
import { createResourcesService } from '../services/resources/service.ts'
import type { MakeService } from './services.ts'

/** Resources, their types and constraints. */
export const makeResources: MakeService = ({ storage, gauges, now, peers }) => {
  const service = createResourcesService({ storage, now, newId: () => randomUUID() })
  peers.resources = service
  gauges.watchQueue('resource-operations', () => service.gauges().openOperations)
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
