/**
 * The resources service over HTTP. The service reads queries and bodies itself, so that a problem is
 * told in the same words by whatever way it comes.
 */
import type { FastifyInstance } from 'fastify'
import { ownScope } from '#services/shared'
import type { ResourcesService } from './contract.ts'
import { constraintRoutes } from './routes/constraint-routes.ts'
import { eventRoutes } from './routes/event-routes.ts'
import { resourceRoutes } from './routes/resource-routes.ts'
import { typeRoutes } from './routes/type-routes.ts'

/** Adds every route of the service, in a scope of its own. `request.tenant` and `request.user` say who asks. */
export async function resourcesRoutes(app: FastifyInstance, { service }: { service: ResourcesService }): Promise<void> {
  await ownScope(app, (own) => {
    for (const add of [resourceRoutes, typeRoutes, constraintRoutes, eventRoutes]) add(own, service)
  })
}
