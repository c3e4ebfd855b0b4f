/** The broker's routes on memory at a fixed time, asked over HTTP. */
import { fastify, type FastifyInstance } from 'fastify'
import { errorHandler } from '../../../../../src/host/errors.ts'
import { readJsonBodies } from '../../../../../src/host/json-body.ts'
import { brokerErrorBody } from '../../../../../src/services/broker/error-body.ts'
import { brokerRoutes } from '../../../../../src/services/broker/api.ts'
import { createBrokerService } from '../../../../../src/services/broker/service.ts'
import { openMemory } from '../../../../../src/storage/memory/open-memory.ts'
import { NOW } from './series-in-memory.ts'

export interface SeriesApp {
  readonly app: FastifyInstance
  /** a request with a JSON body; `tenant` is `t` unless said otherwise */
  ask(
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly type: string; readonly body: unknown }>
  close(): Promise<void>
}

export async function seriesApp(): Promise<SeriesApp> {
  const storage = openMemory({ clock: () => NOW })
  const service = createBrokerService({
    storage,
    now: () => NOW,
    every: () => () => undefined,
  })
  await service.start()
  // fetch keeps connections on which it has asked nothing yet; they are not worth waiting for
  const app = fastify({ forceCloseConnections: true })
  app.decorateRequest('tenant', '')
  app.decorateRequest('user', 'tester')
  app.addHook('onRequest', async (request) => {
    request.tenant = String(request.headers['x-tenant'] ?? 't')
  })
  readJsonBodies(app)
  app.setErrorHandler(errorHandler(brokerErrorBody))
  await brokerRoutes(app, { service, life: 'test', frameBytes: 1_000, every: () => () => undefined })
  return {
    app,
    async ask(method, url, body, headers = {}) {
      const response = await app.inject({ method, url, headers, ...(body && { payload: body }) })
      return { status: response.statusCode, type: String(response.headers['content-type']), body: response.json() }
    },
    async close() {
      await app.close()
      await service.stop()
      await storage.close()
    },
  }
}
