/** The registry over HTTP. The service reads queries and bodies itself. */
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../kernel/caller.ts'
import { FUNCTION_TYPES } from './function-type.ts'
import { assetRoutes, changeRoutes, functionRoutes } from './routes/function-routes.ts'
import { jobRoutes, registryRoutes, type RegistryRouting, versionJobRoutes } from './routes/registry-routes.ts'
import { ARCHIVE_TYPES } from './routes/route-parts.ts'

/** Adds every route of the service, in a scope of its own. `request.tenant` and `request.user` say who asks. */
export async function functionsRoutes(app: FastifyInstance, routing: RegistryRouting): Promise<void> {
  await app.register((own, _options, done) => {
    own.setValidatorCompiler(() => () => true)
    // the schemas of answers are for readers: nothing is left out because a schema does not know it
    own.setSerializerCompiler(() => (data) => JSON.stringify(data))
    own.addContentTypeParser([...ARCHIVE_TYPES], { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
    const { service, now } = routing
    registryRoutes(own, routing)
    jobRoutes(own, routing)
    for (const type of FUNCTION_TYPES) {
      const typed = { type, now, service: { as: (caller: Caller) => service.as(caller, type) } }
      functionRoutes(own, typed)
      changeRoutes(own, typed)
      assetRoutes(own, typed)
      versionJobRoutes(own, typed)
    }
    done()
  })
}
