/** Webscripts over HTTP: calls, and what is known of them. */
import type { FastifyInstance } from 'fastify'
import { callRoutes } from './routes/call-routes.ts'
import type { WebscriptsRouting } from './routes/routing.ts'
import { managementRoutes } from './routes/management-routes.ts'
import { logRoutes } from './routes/log-routes.ts'

/** Adds every route of the service, each kind in a scope of its own. */
export async function webscriptsRoutes(app: FastifyInstance, routing: WebscriptsRouting): Promise<void> {
  await app.register((own, _options, done) => {
    // the service reads queries itself
    own.setValidatorCompiler(() => () => true)
    own.setSerializerCompiler(() => (data) => JSON.stringify(data))
    logRoutes(own, routing)
    managementRoutes(own, routing)
    done()
  })
  await app.register((own, _options, done) => {
    callRoutes(own, routing)
    done()
  })
}
