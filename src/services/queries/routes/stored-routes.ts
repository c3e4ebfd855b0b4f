/** Routes of stored queries. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { writeCondition } from '#services/shared'
import type { QueriesService, StoredQueryPage, VersionedQuery } from '../contract.ts'
import { QuerySchema } from '../query/query-schema.ts'
import { MetaSchema } from '../stored/read-entity.ts'
import { described, handle, MessageSchema, type RequestContext } from './route-parts.ts'

const COLLECTION = '/config/query'
const ONE = `${COLLECTION}/:name`

const LinkSchema = Type.Object({ href: Type.String() })
const AttributesSchema = Type.Object({
  created: Type.String({ description: 'ISO 8601' }),
  created_by: Type.String(),
  modified: Type.String({ description: 'ISO 8601' }),
  modified_by: Type.String(),
})
const LinksSchema = Type.Object({ self: LinkSchema, execute: LinkSchema })
const messages = Type.Array(MessageSchema)
const EntitySchema = Type.Object(
  {
    name: Type.String(),
    query: Type.Object({}, { additionalProperties: true }),
    meta: MetaSchema,
    attrs: AttributesSchema,
    _links: LinksSchema,
    messages,
  },
  { title: 'Stored query' },
)
const PageSchema = Type.Object(
  {
    messages,
    queries: Type.Array(
      Type.Object({ name: Type.String(), meta: MetaSchema, attrs: AttributesSchema, _links: LinksSchema }),
    ),
    _links: Type.Object({}, { additionalProperties: true }),
    count: Type.Integer(),
    offset: Type.Integer(),
    limit: Type.Integer(),
    total: Type.Integer(),
  },
  { title: 'Stored queries' },
)
const RemovedSchema = Type.Object({ messages }, { title: 'Messages of queries' })
const body = Type.Object(
  { name: Type.Optional(Type.String()), query: QuerySchema, meta: Type.Optional(MetaSchema) },
  { title: 'New stored query', additionalProperties: true },
)
const entity = { answers: { 200: EntitySchema } }

export function storedRoutes(app: FastifyInstance, service: QueriesService): void {
  app.post(
    COLLECTION,
    described({ summary: 'Store a query under the name in the body', body, ...entity }),
    handle(service, async (context) => sendEntity(context, await context.api.stored.create(context.body))),
  )
  app.get(
    COLLECTION,
    described({
      summary: 'One page of the stored queries that a filter finds, by name',
      query: {
        q: Type.Optional(Type.String({ description: 'terms such as tag:stable name:boiler* -resource:r1' })),
        limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, description: 'how many at most; default 10' })),
        offset: Type.Optional(Type.Integer({ minimum: 0, description: 'how many are left out at the beginning' })),
      },
      answers: { 200: PageSchema },
    }),
    handle(service, async (context) => {
      const { api, query } = context
      const q = query.text('q')
      const limit = query.integer('limit', { most: 100 })
      const offset = query.integer('offset')
      query.done()
      const page = await api.stored.search({
        ...(q !== undefined && { q }),
        ...(limit !== undefined && { limit }),
        ...(offset !== undefined && { offset }),
      })
      return pageBody(context, page)
    }),
  )
  app.post(
    ONE,
    described({ summary: 'Store a query under the name in the path', params: ['name'], body, ...entity }),
    handle(service, async (context) =>
      sendEntity(context, await context.api.stored.create(context.body, context.param('name'))),
    ),
  )
  app.put(
    ONE,
    described({
      summary: 'Replace a stored query, or make it',
      params: ['name'],
      body,
      isConditional: true,
      ...entity,
    }),
    handle(service, async (context) => {
      const { api, param } = context
      const options = await writeCondition(context.request, () => api.stored.get(param('name')))
      return sendEntity(context, await api.stored.replace(param('name'), context.body, options))
    }),
  )
  app.get(
    ONE,
    described({ summary: 'One stored query', params: ['name'], ...entity }),
    handle(service, async (context) => sendEntity(context, await context.api.stored.get(context.param('name')))),
  )
  app.delete(
    ONE,
    described({
      summary: 'Delete a stored query',
      params: ['name'],
      isConditional: true,
      answers: { 200: RemovedSchema },
    }),
    handle(service, async ({ api, param, request }) => {
      const options = await writeCondition(request, () => api.stored.get(param('name')))
      await api.stored.remove(param('name'), options)
      return { messages: [] }
    }),
  )
}

function sendEntity(context: RequestContext, { value, version }: VersionedQuery): FastifyReply {
  return context.reply
    .header('etag', `"${version}"`)
    .send({ _links: linksOf(context, value.name), ...value, messages: [] })
}

/** Where this host is, as the request reached it, with the prefix that it is mounted below. */
function baseOf({ request }: RequestContext): string {
  const path = request.url.split('?', 1)[0] ?? ''
  return `${request.protocol}://${request.host}${path.slice(0, Math.max(path.indexOf(COLLECTION), 0))}`
}

function linksOf(context: RequestContext, name: string): object {
  const base = baseOf(context)
  const part = encodeURIComponent(name)
  return { self: { href: `${base}${COLLECTION}/${part}` }, execute: { href: `${base}/data/query/${part}` } }
}

function pageBody(context: RequestContext, { queries, offset, limit, total }: StoredQueryPage): object {
  const base = `${baseOf(context)}${COLLECTION}`
  const q = context.query.text('q')
  const link = (at: number): object => {
    const parameters = new URLSearchParams({ ...(q !== undefined && { q }), limit: String(limit), offset: String(at) })
    return { href: `${base}?${parameters.toString()}` }
  }
  const last = limit === 0 ? 0 : Math.max(Math.ceil(total / limit) - 1, 0) * limit
  return {
    messages: [],
    queries: queries.map((query) => ({ ...query, _links: linksOf(context, query.name) })),
    _links: {
      self: link(offset),
      first: link(0),
      ...(offset > 0 && { prev: link(Math.max(offset - limit, 0)) }),
      ...(limit > 0 && offset + limit < total && { next: link(offset + limit) }),
      last: link(last),
    },
    count: queries.length,
    offset,
    limit,
    total,
  }
}
