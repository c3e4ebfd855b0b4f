/** Routes that manage and observe webscripts. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import {
  addRoutes,
  EVENTS_MEDIA_TYPE,
  linkTo,
  routesOf,
  sendEvents,
  type ServerEvent,
  untilClosed,
} from '#services/shared'
import { BASE, callRoutes, type CallRouting } from './call-routes.ts'
import type { InternalWebscripts, WebscriptsApi } from './contract.ts'
import {
  ErrorSchema,
  InfoSchema,
  LOG_QUERY,
  LogSchema,
  MetricsSchema,
  NewWebscript,
  type Operation,
  OperationSchema,
  type ScriptLine,
  TAIL_QUERY,
  WebscriptChange,
} from './webscript-schema.ts'

const PATH = `${BASE}/webscripts` as const
const route = routesOf<WebscriptsApi>()

const ROUTES = [
  route({
    method: 'GET',
    path: `${PATH}/logs/:name`,
    scope: 'read',
    summary: 'The last log lines of a webscript on this host: requests, responses and console output',
    query: LOG_QUERY,
    answers: { 200: LogSchema },
    handler: ({ api, params, query, request }) => api.log(params.name, ofVersion(query, request)),
  }),
  route({
    method: 'GET',
    path: `${PATH}/logs/:name/events`,
    scope: 'read',
    summary: 'Log lines of a webscript as they are written',
    query: TAIL_QUERY,
    produces: [EVENTS_MEDIA_TYPE],
    handler: ({ api, params, query, reply, request }) => {
      const { 'last-event-id': last } = request.headers
      const after = typeof last === 'string' && /^\d{1,15}$/.test(last) ? { after: Number(last) } : {}
      const tail = { ...ofVersion(query, request), ...after, signal: untilClosed(reply) }
      return sendEvents(reply, eventsOf(api.tail(params.name, tail)))
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/metrics/:name`,
    scope: 'read',
    summary: 'Metrics of a webscript on this host, since the start of the host',
    answers: { 200: MetricsSchema },
    handler: ({ api, params }) => api.metrics(params.name),
  }),
  route({
    method: 'GET',
    path: PATH,
    scope: 'author',
    summary: 'The webscripts of the tenant, each in its latest version',
    answers: { 200: Type.Array(InfoSchema, { title: 'Webscripts' }) },
    handler: async ({ api, request }) => (await api.list()).map((one) => shown(request, one)),
  }),
  route({
    method: 'POST',
    path: PATH,
    scope: 'publish',
    summary: 'Create a webscript from a script',
    body: NewWebscript,
    answers: { 202: OperationSchema },
    handler: async ({ api, body, reply }) => accepted(reply, await api.create(body)),
  }),
  route({
    method: 'GET',
    path: `${PATH}/:name`,
    scope: 'author',
    summary: 'One webscript, or a version of it',
    answers: { 200: InfoSchema },
    handler: async ({ api, params, request }) => shown(request, await api.get(params.name, versionOf(request))),
  }),
  route({
    method: 'PUT',
    path: `${PATH}/:name`,
    scope: 'publish',
    summary: 'Create the next version of a webscript from a script, or replace a draft',
    body: WebscriptChange,
    answers: { 202: OperationSchema },
    handler: async ({ api, params, body, reply, request }) =>
      accepted(reply, await api.replace(params.name, body, versionOf(request))),
  }),
  route({
    method: 'DELETE',
    path: `${PATH}/:name`,
    scope: 'publish',
    summary: 'Remove a webscript, or one of its versions',
    answers: { 202: OperationSchema },
    handler: async ({ api, params, reply, request }) =>
      accepted(reply, await api.remove(params.name, versionOf(request))),
  }),
  route({
    method: 'GET',
    path: `${PATH}/operations/:id`,
    scope: 'read',
    summary: 'Progress of the creation or removal of a webscript',
    answers: { 200: Type.Object({}, { additionalProperties: true, title: 'WebscriptOperationState' }) },
    handler: ({ api, params }) => api.operation(params.id),
  }),
]

export async function webscriptsRoutes(
  app: FastifyInstance,
  { service, ...routing }: CallRouting & { readonly service: Pick<InternalWebscripts, 'as'> },
): Promise<void> {
  await addRoutes(app, service, { tag: 'webscripts', errors: ErrorSchema, routes: ROUTES })
  await app.register(async (scope) => callRoutes(scope, routing))
}

function accepted(reply: FastifyReply, { operation, ...about }: Operation): unknown {
  return reply.code(202).send({ ...about, ...(operation && { operation: shown(reply.request, operation) }) })
}

function shown<T extends { readonly href: string }>(request: FastifyRequest, one: T): T {
  return { ...one, href: linkTo(request, one.href) }
}

function versionOf({ headers }: FastifyRequest): string | undefined {
  const { 'x-webscript-version': version } = headers
  return typeof version === 'string' && version.trim() !== '' ? version.trim() : undefined
}

/** Reads the version: the query parameter takes precedence over the header. */
function ofVersion<Query extends { readonly version?: string }>({ version, ...query }: Query, request: FastifyRequest) {
  const picked = version || versionOf(request)
  return { ...query, ...(picked !== undefined && { version: picked }) }
}

async function* eventsOf(lines: AsyncIterable<ScriptLine>): AsyncGenerator<ServerEvent> {
  for await (const line of lines) yield { id: String(line.number), event: 'line', data: line }
}
