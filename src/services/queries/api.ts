/** Routes of the query service. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type, type TSchema } from 'typebox'
import {
  addRoutes,
  headerOfList,
  issueLine,
  linkTo,
  NDJSON_MEDIA_TYPE,
  type Refusal,
  routesOf,
  untilClosed,
  writeCondition,
} from '#services/shared'
import type { Decoded } from '#services/shared/contract'
import type {
  Overrides,
  QueriesApi,
  QueriesService,
  QuerySource,
  ResultFormat,
  StoredQueryPage,
  VersionedQuery,
} from './contract.ts'
import { ARROW_MEDIA_TYPE, begun } from './execution/run.ts'
import { OVERRIDE_NAMES } from './query/read-query.ts'
import { QUERY_SCHEMA_DOCUMENT, QuerySchema } from './query/query-schema.ts'
import { NamedStoredQuery, NewStoredQuery } from './stored/stored-body.ts'
import { EntitySchema, ErrorSchema, MessageSchema, PageSchema, RemovedSchema, SEARCH } from './stored/stored-schema.ts'

const COLLECTION = '/config/query'
const CSV_MEDIA_TYPE = 'text/csv'
const FORMATS: readonly (readonly [type: string, format: ResultFormat])[] = [
  [CSV_MEDIA_TYPE, 'csv'],
  [NDJSON_MEDIA_TYPE, 'ndjson'],
  [ARROW_MEDIA_TYPE, 'arrow'],
]

const ResultSchema = Type.Object(
  {
    messages: Type.Array(MessageSchema),
    query: Type.Object({}, { additionalProperties: true, description: 'the executed query' }),
    data: Type.Array(Type.Unknown({ description: 'one data set, in the layout of the render mode' })),
    api_version: Type.Optional(Type.String({ description: 'is ignored' })),
    explain: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { title: 'Result of a query' },
)
const OVERRIDES: object = Object.fromEntries(
  OVERRIDE_NAMES.map((name): [string, TSchema] => [
    name,
    Type.Optional(Type.String({ description: `replaces ${name} in the query` })),
  ]),
)
const executed = {
  query: {
    ...OVERRIDES,
    csv: Type.Optional(
      Type.Enum(['safe'], { description: 'for CSV: texts that begin like formulas are prefixed with an apostrophe' }),
    ),
    explain: Type.Optional(Type.Boolean({ description: 'true: adds read volume and timing' })),
  },
  produces: ['application/json', CSV_MEDIA_TYPE, NDJSON_MEDIA_TYPE, ARROW_MEDIA_TYPE],
  answers: { 200: ResultSchema, 502: ErrorSchema },
} as const
const entity = { answers: { 200: EntitySchema } } as const

const route = routesOf<QueriesApi>()

const ROUTES = [
  route({
    ...executed,
    method: 'POST',
    path: '/data/query',
    scope: 'read',
    summary: 'Execute the query of the body; parameters override its fields',
    // the body is validated after the parameters were merged into it
    body: { schema: QuerySchema, read: (body) => body as Decoded<typeof QuerySchema> },
    handler: (context) => execute(context, { query: context.body }),
  }),
  route({
    ...executed,
    method: 'GET',
    path: '/data/query/:name',
    scope: 'read',
    summary: 'Execute a stored query; parameters override its fields',
    handler: (context) => execute(context, { stored: context.params.name }),
  }),
  route({
    method: 'GET',
    path: '/schema/query.json',
    scope: 'read',
    summary: 'The JSON Schema of queries',
    answers: { 200: Type.Object({}, { additionalProperties: true, title: 'Schema of queries' }) },
    handler: () => QUERY_SCHEMA_DOCUMENT,
  }),
  route({
    ...entity,
    method: 'POST',
    path: COLLECTION,
    scope: 'author',
    summary: 'Store a query under the name in the body',
    body: NewStoredQuery,
    handler: async ({ api, body, reply }) => sendEntity(reply, await api.stored.create(body)),
  }),
  route({
    method: 'GET',
    path: COLLECTION,
    scope: 'read',
    summary: 'One page of the stored queries that match a filter, by name',
    query: SEARCH,
    answers: { 200: PageSchema },
    handler: async ({ api, query, reply }) => pageBody(reply, await api.stored.search(query), query.q),
  }),
  route({
    ...entity,
    method: 'POST',
    path: `${COLLECTION}/:name`,
    scope: 'author',
    summary: 'Store a query under the name in the path',
    body: NamedStoredQuery,
    handler: async ({ api, params, body, reply }) => sendEntity(reply, await api.stored.create(body, params.name)),
  }),
  route({
    ...entity,
    method: 'PUT',
    path: `${COLLECTION}/:name`,
    scope: 'author',
    summary: 'Replace or create a stored query',
    isConditional: true,
    body: NamedStoredQuery,
    handler: async ({ api: { stored }, params: { name }, body, request, reply }) => {
      const options = await writeCondition(request, () => stored.get(name))
      return sendEntity(reply, await stored.replace(name, body, options))
    },
  }),
  route({
    ...entity,
    method: 'GET',
    path: `${COLLECTION}/:name`,
    scope: 'read',
    summary: 'One stored query',
    handler: async ({ api, params, reply }) => sendEntity(reply, await api.stored.get(params.name)),
  }),
  route({
    method: 'DELETE',
    path: `${COLLECTION}/:name`,
    scope: 'author',
    summary: 'Delete a stored query',
    isConditional: true,
    answers: { 200: RemovedSchema },
    handler: async ({ api: { stored }, params: { name }, request }) => {
      await stored.remove(name, await writeCondition(request, () => stored.get(name)))
      return { messages: [] }
    },
  }),
]

export function queriesRoutes(app: FastifyInstance, { service }: { service: QueriesService }): Promise<void> {
  return addRoutes(app, service, { tag: 'queries', errors: ErrorSchema, routes: ROUTES })
}

interface Execution {
  readonly api: QueriesApi
  readonly query: { readonly explain?: boolean; readonly csv?: 'safe' }
  readonly reply: FastifyReply
}

async function execute({ api, query, reply }: Execution, source: QuerySource): Promise<FastifyReply> {
  const { method, url, headers, query: sent } = reply.request
  const { explain: _explain, csv: _csv, ...overrides } = sent as Overrides
  const format = FORMATS.find(([type]) => headers.accept?.includes(type))?.[1]
  const { type, messages, parts } = await api.open(source, {
    ...query,
    overrides,
    signal: untilClosed(reply),
    action: `${method} ${url.split('?', 1)[0] ?? ''}`,
    ...(format && { format }),
  })
  void reply.header('vary', 'accept').type(type)
  const said = headerOfList(messages)
  if (said !== undefined) void reply.header('query-messages', said)
  const { first, all } = await begun(parts)
  if (first.length < 2) return reply.send(first[0] ?? '')
  return reply.send(Readable.from(all, { objectMode: false, highWaterMark: 65_536 }))
}

function sendEntity(reply: FastifyReply, { value, version }: VersionedQuery): FastifyReply {
  return reply.header('etag', `"${version}"`).send({ _links: linksOf(reply, value.name), ...value, messages: [] })
}

function linksOf(reply: FastifyReply, name: string): object {
  const link = (collection: string) => ({ href: linkTo(reply.request, `${collection}/${encodeURIComponent(name)}`) })
  return { self: link(COLLECTION), execute: link('/data/query') }
}

function pageBody(reply: FastifyReply, page: StoredQueryPage, q = ''): object {
  const { queries, offset, limit, total } = page
  const link = (at: number): object => {
    const parameters = new URLSearchParams({ ...(q !== '' && { q }), limit: String(limit), offset: String(at) })
    return { href: linkTo(reply.request, `${COLLECTION}?${parameters.toString()}`) }
  }
  const last = limit === 0 ? 0 : Math.max(Math.ceil(total / limit) - 1, 0) * limit
  return {
    messages: [],
    ...page,
    queries: queries.map((query) => ({ ...query, _links: linksOf(reply, query.name) })),
    _links: {
      self: link(offset),
      first: link(0),
      ...(offset > 0 && { prev: link(Math.max(offset - limit, 0)) }),
      ...(limit > 0 && offset + limit < total && { next: link(offset + limit) }),
      last: link(last),
    },
    count: queries.length,
  }
}

export function queriesErrorBody({ error, code, issues }: Refusal): Decoded<typeof ErrorSchema> {
  const details = issues.map(issueLine)
  const messages = issues.map((issue) => ({ message: issueLine(issue), level: 'error' as const, code: issue.type }))
  return { error, messages, code, ...(details.length > 0 && { details }) }
}
