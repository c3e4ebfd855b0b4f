/** The resources service on memory, with an HTTP app in front of it and a clock that the test moves. */
import { fastify, type FastifyInstance, type InjectOptions } from 'fastify'
import { errorHandler } from '../../../../src/host/errors.ts'
import { readJsonBodies } from '../../../../src/host/json-body.ts'
import type { ResourcesApi, ResourcesService } from '../../../../src/services/resources/contract.ts'
import { resourcesErrorBody } from '../../../../src/services/resources/error-body.ts'
import { resourcesRoutes } from '../../../../src/services/resources/routes.ts'
import { createResourcesService, type ResourcesOptions } from '../../../../src/services/resources/service.ts'
import type { Storage } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { got, type Answer } from '../../rules/support/answer.ts'

/** 2026-11-20T12:00:00Z */
export const NOON = Date.UTC(2026, 10, 20, 12)

export interface Bench {
  readonly service: ResourcesService
  readonly storage: Storage
  readonly clock: { now: number }
  /** as the tester of tenant `acme` */
  readonly api: ResourcesApi
  readonly app: FastifyInstance
  /** writes when resources were heard last, as the timer of a host does */
  sweep(): void
  /** a request as that tester; the body is JSON */
  ask(method: InjectOptions['method'], url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  close(): Promise<void>
}

export async function bench(options: Partial<ResourcesOptions> = {}): Promise<Bench> {
  const { storage = openMemory() } = options
  const clock = { now: NOON }
  const sweeps = new Set<() => void>()
  let id = 0
  const service = createResourcesService({
    now: () => clock.now,
    newId: () => `i${++id}-${Math.trunc(clock.now / 1000)}`,
    sweep: (work) => {
      sweeps.add(work)
      return () => sweeps.delete(work)
    },
    ...options,
    storage,
  })
  await service.start()
  const app = await appOf(service)
  return {
    service,
    storage,
    clock,
    api: service.as({ tenant: 'acme', user: 'tester' }),
    app,
    sweep: () => {
      for (const work of sweeps) work()
    },
    ask: (method, url, body, headers) => ask(app, method, url, body, headers),
    close: async () => {
      await app.close()
      await service.stop()
    },
  }
}

/** An app that believes who the request says it is. */
async function appOf(service: ResourcesService): Promise<FastifyInstance> {
  const app = fastify({ routerOptions: { maxParamLength: 1024 }, forceCloseConnections: true })
  app.decorateRequest('tenant', '')
  app.decorateRequest('user', '')
  app.addHook('onRequest', (request, _reply, done) => {
    const { 'x-tenant': tenant = 'acme', 'x-user': user = 'tester' } = request.headers
    request.tenant = String(tenant)
    request.user = String(user)
    done()
  })
  readJsonBodies(app)
  app.setErrorHandler(errorHandler(resourcesErrorBody))
  await app.register(resourcesRoutes, { service })
  await app.ready()
  return app
}

async function ask(
  app: FastifyInstance,
  method: InjectOptions['method'],
  url: string,
  sent: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await app.inject({
    ...(method && { method }),
    url,
    headers: { ...(sent !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(sent !== undefined && { payload: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
  })
  const { statusCode: status, body: text } = response
  const isJson = text !== '' && String(response.headers['content-type']).includes('json')
  const body: unknown = isJson ? JSON.parse(text) : text
  return { status, headers: response.headers, text, body, at: (path) => got(body, path) }
}
