/** Serves the tools of assistants at `/mcp`: calls reach the API in this process, with the rights of the caller. */
import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createClient } from '#client'
import { AppError, type Caller } from '#kernel'
import type { Proved } from '#mcp'
import { callerOf, untilClosed } from '#services/shared'
import type { InternalClient } from '../internal-client.ts'
import { ownVersion } from '../version.ts'
import type { MakeService, ServiceDependencies } from './service-dependencies.ts'

/** Maximum size of a message in bytes: a rule and the messages of a rehearsal */
const MAX_MESSAGE = 4 * 1024 * 1024

const MESSAGE = {
  type: 'object',
  description: 'a JSON-RPC message of the Model Context Protocol',
  additionalProperties: true,
} as const

const SCHEMA = {
  summary: 'Tools for assistants over the Model Context Protocol (streamable HTTP, without sessions)',
  body: { title: 'McpMessages', anyOf: [MESSAGE, { type: 'array', items: MESSAGE, maxItems: 100 }] },
  produces: ['text/event-stream'],
  response: {
    200: { type: 'string', description: 'answers, as events with JSON-RPC messages' },
    202: { type: 'null', description: 'a notification was accepted' },
    400: { ...MESSAGE, title: 'McpFault', description: 'the body is not a message' },
    406: { ...MESSAGE, title: 'McpFault', description: 'Accept lacks application/json or text/event-stream' },
  },
} as const

export const makeAssistants: MakeService = (dependencies) => ({
  name: 'assistants',
  description: 'Tools for assistants over the Model Context Protocol',
  routes: (app) => {
    dependencies.internalClient.isAt(app)
    app.post('/mcp', { bodyLimit: MAX_MESSAGE, config: { scope: 'read' }, schema: SCHEMA }, (request, reply) =>
      answer(dependencies, request, reply),
    )
  },
})

async function answer(
  { config, internalClient, threads, logger }: ServiceDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  requireOwnOrigin(request.headers.origin, config.url)
  // loaded with the first message of an assistant
  const { answerMcp, MAX_PROOF_MS } = await import('#mcp')
  const { headers, body, rights, tenant } = request
  const signal = untilClosed(reply)
  const fetch = fetchInside(internalClient, callerOf(request), signal)
  const {
    status,
    headers: sent,
    body: stream,
  } = await answerMcp(
    { headers, body, signal },
    {
      version: ownVersion(),
      rights,
      client: createClient({ url: 'http://localhost', fetch }),
      prove: async (input) => (await threads.do({ tenant, name: 'prove', input, limitMs: MAX_PROOF_MS })) as Proved,
      failed: (error) => logger.warn(`a tool of an assistant failed: ${String(error)}`),
    },
  )
  return reply
    .code(status)
    .headers(Object.fromEntries(sent))
    .send(stream ?? undefined)
}

/**
 * Rejects pages of names that may have been pointed at this host, as the protocol requires. The name of the host's own
 * URL is known, and addresses are not names.
 */
function requireOwnOrigin(origin: string | undefined, ownUrl: string | undefined): void {
  if (origin === undefined) return
  const { hostname = '', host = '' } = URL.canParse(origin) ? new URL(origin) : {}
  const isAddress = hostname === 'localhost' || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0
  if (isAddress || (ownUrl !== undefined && new URL(ownUrl).host === host)) return
  const text = `A page of ${origin.slice(0, 200)} may not call tools; if this is the address of the host, set --url`
  throw new AppError('FORBIDDEN', text)
}

/** Returns a fetch that calls the API of this process for a caller. */
function fetchInside(internal: InternalClient, caller: Caller, signal: AbortSignal): typeof globalThis.fetch {
  return async (input, { method = 'GET', headers, body } = {}) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input)
    const sent = [...new Headers(headers)]
    const text = typeof body === 'string' ? { body } : {}
    const answer = await internal.request(caller, { method, path: pathname + search, headers: sent, ...text }, signal)
    const isEmpty = answer.status === 204 || answer.status === 304
    return new Response(isEmpty ? null : answer.text, {
      status: answer.status,
      headers: answer.headers.map(([name, value]): [string, string] => [name, value]),
    })
  }
}
