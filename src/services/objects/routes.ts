/** Object storage over HTTP: what is known of objects, and their contents by signed addresses. */
import type { FastifyInstance } from 'fastify'
import type { ObjectsService } from './contract.ts'
import { statusOf } from './error-body.ts'
import { bucketRoutes } from './routes/bucket-routes.ts'
import { BASE } from './show.ts'

export interface ObjectsRouting {
  readonly service: ObjectsService
  /** of this package */
  readonly version: string
}

/** Where the paths of the service are: there, and as its own host would have them. */
const BASES = [BASE, ''] as const

/** Adds every route of the service, each kind in a scope of its own. `request.tenant` and `request.user` say who asks. */
export async function objectsRoutes(app: FastifyInstance, { service, version }: ObjectsRouting): Promise<void> {
  await app.register((own, _options, done) => {
    // the service reads queries itself
    own.setValidatorCompiler(() => () => true)
    own.setSerializerCompiler(() => (data) => JSON.stringify(data))
    own.addHook('preSerialization', (_request, reply, payload, next) => {
      reply.code(statusOf(reply.statusCode))
      next(null, payload)
    })
    bucketRoutes(own, service, BASES)
    const about = {
      schema: { summary: 'Version of this software, as plain text', response: { 200: { type: 'string' } } },
    } as const
    own.get(`${BASE}/`, about, (_request, reply) => reply.type('text/plain; charset=utf-8').send(version))
    done()
  })
}
