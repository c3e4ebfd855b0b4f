/** Makes the query service of a host. */
import { resourceSelector } from './queries.ts'
import { queriesErrorBody, queriesRoutes } from '#services/queries'
import { createQueriesService } from '#services/queries/service'
import type { MakeService } from './service-dependencies.ts'

/** Queries over storage; what was posted a moment before and selections of resources as far as those are served too. */
export const makeQueries: MakeService = ({ storage, gauges, now, serviceRegistry, reached }) => {
  const own = createQueriesService({
    storage,
    now,
    resources: () => serviceRegistry.resources && resourceSelector(serviceRegistry.resources),
    broker: () => serviceRegistry.broker,
  })
  const service = reached('queries', own)
  serviceRegistry.queries = service
  gauges.watchQueue('queries', () => service.gauges().running)
  gauges.watchTotal('queries-executed', () => service.gauges().executed)
  return {
    name: 'queries',
    description: 'Time series queries: time lines, aggregation, interpolation and layouts, ad hoc or stored',
    example: '/config/query',
    errorBody: queriesErrorBody,
    routes: (app) => queriesRoutes(app, { service }),
    start: async () => {},
    stop: async () => {},
  }
}
