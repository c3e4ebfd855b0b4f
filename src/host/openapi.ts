/** The page of the API, made from the schemas of the routes. */
import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { ownVersion } from './version.ts'

export interface Described {
  readonly name: string
  readonly description: string
}

/**
 * The API page at `/docs` and its document, OpenAPI 3.1, at `/docs/json`, both made from the schemas of the routes.
 * To be called before the routes are added. A server that has such a page already keeps its own, and gets none of ours.
 */
export async function describeApi(app: FastifyInstance, services: readonly Described[]): Promise<void> {
  if (app.hasDecorator('swagger')) {
    app.log.warn('this server describes its API already; the page of the host is left out')
    return
  }
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Reflexarc',
        version: ownVersion(),
        description: 'A rule engine for what your sensors say: tasks, templates, and what is around them.',
      },
      tags: [
        ...services.map(({ name, description }) => ({ name, description })),
        { name: 'host', description: 'The frame around the services' },
      ],
      components: {
        securitySchemes: {
          pair: { type: 'http', scheme: 'basic', description: 'API key and secret' },
          token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        },
      },
      security: [{ pair: [] }, { token: [] }],
    },
    // Shared schemas keep their names instead of def-0, def-1 ...
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, i) => (typeof $id === 'string' ? $id : `def-${i}`),
    },
  })
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'public' }
    })
    await docs.register(fastifySwaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      uiConfig: { docExpansion: 'list', deepLinking: true, tryItOutEnabled: true },
    })
  })
}
