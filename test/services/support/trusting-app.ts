/** Creates an HTTP app for one service, without the host's authentication. */
import { fastify, type FastifyInstance, type InjectOptions } from 'fastify'
import { errorHandler } from '../../../src/host/errors.ts'
import type { ErrorBody } from '../../../src/host/failure.ts'
import { readJsonBodies } from '../../../src/host/json-body.ts'
import { got, type Answer } from './answer.ts'

/** Creates an app that trusts the identity in the request: `x-tenant` (acme) and `x-user` (tester). */
export async function trustingApp(
  errorBody: ErrorBody,
  routes: (app: FastifyInstance) => unknown,
): Promise<FastifyInstance> {
  // close at once: fetch keeps open connections that it has not used yet
  const app = fastify({ routerOptions: { maxParamLength: 2048 }, forceCloseConnections: true })
  app.decorateRequest('tenant', '')
  app.decorateRequest('user', '')
  app.addHook('onRequest', (request, _reply, done) => {
    const { 'x-tenant': tenant = 'acme', 'x-user': user = 'tester' } = request.headers
    request.tenant = String(tenant)
    request.user = String(user)
    done()
  })
  readJsonBodies(app)
  app.setErrorHandler(errorHandler(errorBody))
  await app.register(async (scope) => {
    await routes(scope)
  })
  await app.ready()
  return app
}

/** Sends a request with a JSON body, which may be given as text. */
export async function ask(
  app: FastifyInstance,
  method: InjectOptions['method'],
  url: string,
  sent?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await app.inject({
    ...(method && { method }),
    url,
    headers: { ...(sent !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(sent !== undefined && { payload: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
  })
  const { statusCode: status, body: text } = response
  const isJson = text !== '' && /^application\/(?:[\w.-]+\+)?json/.test(String(response.headers['content-type']))
  const body: unknown = isJson ? JSON.parse(text) : text
  return { status, headers: response.headers, text, body, at: (path) => got(body, path) }
}
