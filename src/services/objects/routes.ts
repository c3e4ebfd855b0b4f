/** Object storage over HTTP: what is known of objects, and their contents by signed addresses. */
import type { FastifyInstance } from 'fastify'
import { describing } from '#services/shared'
import { inOwnScope } from './own-scope.ts'
import { bucketRoutes } from './routes/bucket-routes.ts'
import { contentRoutes } from './routes/content-routes.ts'
import type { ContentRouting } from './routes/content-request.ts'
import { ErrorSchema } from './routes/schemas.ts'
import { BASE } from './show.ts'

export interface ObjectsRouting extends ContentRouting {
  /** of this package */
  readonly version: string
}

/** Where the paths of the service are: there, and as its own host would have them. */
const BASES = [BASE, ''] as const

/** Adds every route of the service, each kind in a scope of its own. `request.tenant` and `request.user` say who asks. */
export async function objectsRoutes(app: FastifyInstance, { version, ...routing }: ObjectsRouting): Promise<void> {
  await inOwnScope(app, (own) => {
    bucketRoutes(own, routing.service, BASES)
    const about = describing(
      'objects',
      ErrorSchema,
    )({
      summary: 'The version of this software, as plain text',
      produces: ['text/plain'],
    })
    own.get(`${BASE}/`, about, (_request, reply) => reply.type('text/plain; charset=utf-8').send(version))
  })
  await app.register((own, _options, done) => {
    contentRoutes(own, routing)
    done()
  })
}
