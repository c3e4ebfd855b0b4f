/** Webscripts over HTTP: calls, and what is known of them. */
import type { FastifyInstance } from 'fastify'
import { ownScope } from '#services/shared'
import { callRoutes } from './routes/call-routes.ts'
import type { WebscriptsRouting } from './routes/routing.ts'
import { managementRoutes } from './routes/management-routes.ts'
import { logRoutes } from './routes/log-routes.ts'

/** Adds every route of the service, each kind in a scope of its own. */
export async function webscriptsRoutes(app: FastifyInstance, routing: WebscriptsRouting): Promise<void> {
  await ownScope(app, (own) => {
    logRoutes(own, routing)
    managementRoutes(own, routing)
  })
  await app.register((own, _options, done) => {
    callRoutes(own, routing)
    done()
  })
}
