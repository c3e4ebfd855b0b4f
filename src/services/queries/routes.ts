/**
 * The query service over HTTP. The service reads queries and bodies itself, so that a problem is told in the same words
 * by whatever way it comes.
 */
import type { FastifyInstance } from 'fastify'
import { ownScope } from '#services/shared'
import type { QueriesService } from './contract.ts'
import { executionRoutes } from './routes/execution-routes.ts'
import { storedRoutes } from './routes/stored-routes.ts'

/** Adds every route of the service, in a scope of its own. `request.tenant` and `request.user` say who asks. */
export async function queriesRoutes(app: FastifyInstance, { service }: { service: QueriesService }): Promise<void> {
  await ownScope(app, (own) => {
    for (const add of [executionRoutes, storedRoutes]) add(own, service)
  })
}
