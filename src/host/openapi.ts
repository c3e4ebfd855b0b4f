/** Serves the API page, generated from the schemas of the routes. */
import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { completeDocument, type ApiDocument } from './openapi-document.ts'
import { ownVersion } from './version.ts'

export interface Described {
  readonly name: string
  readonly description: string
}

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 190 40" height="40">
<path d="M6 32C6 2 34 2 34 32" fill="none" stroke="#7ad0ff" stroke-width="4"/>
<circle cx="6" cy="33" r="5" fill="#fff"/><circle cx="34" cy="33" r="5" fill="#ffb84d"/>
<text x="48" y="28" font-family="sans-serif" font-size="22" font-weight="700" fill="#fff">Reflexarc</text></svg>`
const FAVICON = { filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any' }

/** Must be called before the routes are added. A server that already has an API page keeps its own. */
export async function describeApi(app: FastifyInstance, services: readonly Described[]): Promise<void> {
  if (app.hasDecorator('swagger')) {
    app.log.warn('this server already has an API page; the page of the host is omitted')
    return
  }
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Reflexarc',
        version: ownVersion(),
        description: 'A rule engine for sensor data: tasks, templates, and the services around them.',
      },
      tags: [
        ...services.map(({ name, description }) => ({ name, description })),
        { name: 'auth', description: 'Keys, devices and sessions' },
        { name: 'host', description: 'Health, metrics and other routes of the host' },
      ],
      components: {
        securitySchemes: {
          pair: { type: 'http', scheme: 'basic', description: 'API key and secret' },
          token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        },
      },
      security: [{ pair: [] }, { token: [] }],
    },
    transformObject(described) {
      if (!('openapiObject' in described)) return described.swaggerObject
      // Fastify's type covers every form of a document, but this one is always an `ApiDocument`
      completeDocument(described.openapiObject as unknown as ApiDocument, app.prefix)
      return described.openapiObject
    },
    // shared schemas keep their names instead of becoming def-0, def-1 ...
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, i) => (typeof $id === 'string' ? $id : `def-${i}`),
    },
  })
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, scope: 'public' }
    })
    await docs.register(fastifySwaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      // without this, a host without TLS would show a blank page
      transformStaticCSP: (policy) => policy.replace(/\s*upgrade-insecure-requests;?/, ''),
      theme: { title: 'Reflexarc API', favicon: [{ ...FAVICON, content: LOGO }] },
      logo: { type: 'image/svg+xml', content: Buffer.from(LOGO), href: './', target: '_self' },
      uiConfig: { docExpansion: 'list', deepLinking: true, tryItOutEnabled: true },
    })
  })
}
