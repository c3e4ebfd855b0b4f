/** Creates the query service of a host. */
import { resourceSelector } from './queries.ts'
import { queriesErrorBody, queriesRoutes, QuerySlots } from '#services/queries'
import { Queries } from '#services/queries/service'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'

export const makeQueries: MakeService = ({ figures, now, tenants }) => {
  figures.queue('queries', ({ queries }) => queries?.gauges().running)
  figures.total('queries-executed', ({ queries }) => queries?.gauges().executed)
  const slots = new QuerySlots()
  return {
    name: 'queries',
    description: 'Time series queries: time lines, aggregation, interpolation and layouts, ad hoc or stored',
    example: '/config/query',
    errorBody: queriesErrorBody,
    routes: (app) => queriesRoutes(app, { service: ofCaller(tenants, ({ queries }) => queries) }),
    open: ({ tenant, store, services }) => {
      const queries = new Queries({
        store,
        now,
        resources: () => services.resources && resourceSelector(tenant, services.resources),
        readable: async () => services.broker?.readable(),
        slots,
      })
      return { provides: { queries } }
    },
  }
}
