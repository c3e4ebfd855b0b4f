/** HTTP routes of the resources service. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError, csvText, type Page, type Published, withoutFormula, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import {
  addRoutes,
  EVENTS_MEDIA_TYPE,
  HAL_MEDIA_TYPE,
  linkTo,
  NDJSON_MEDIA_TYPE,
  PAGED_MEDIA_TYPE,
  pagedTypeOf,
  routesOf,
  sendEvents,
  sendTexts,
  type ServerEvent,
  untilClosed,
  writeCondition,
} from '#services/shared'
import { Constraint } from './constraints/constraint-schema.ts'
import type {
  ListQuery,
  MetadataEvent,
  ResourceApi,
  ResourceEntity,
  ResourcesApi,
  ResourcesService,
  TypeApi,
  Versioned,
} from './contract.ts'
import { halEntity, halPage } from './hal.ts'
import { valueAt } from './list/project.ts'
import {
  CONSTRAINT_LISTING,
  fieldsOf,
  PAGING,
  locationProblems,
  RESOURCE_LISTING,
  TYPE_LISTING,
} from './list/read-listing.ts'
import {
  AttributeOriginsSchema,
  CASCADE,
  ChangesSchema,
  CommandPageSchema,
  ConstraintsSchema,
  CreatedSchema,
  EntitySchema,
  ErrorSchema,
  NewResource,
  NewType,
  PageSchema,
  ResourceBody,
  TypeBody,
} from './resource-schema.ts'

const route = routesOf<ResourcesApi>()
const turns = new Yielder(machineTimers)

const RESOURCES = '/api/resources'
const TYPES = '/api/resourcetypes'
const CONSTRAINTS = '/api/resourceconstraints'
const SCHEMA_MEDIA_TYPE = 'application/schema+json'
const CSV_MEDIA_TYPE = 'text/csv'
const JSON_OR_HAL = ['application/json', HAL_MEDIA_TYPE]
const JSON_OR_PAGE = ['application/json', PAGED_MEDIA_TYPE]
const entity = { 200: EntitySchema }
const page = { 200: PageSchema }
const none = { 204: Type.Null() }
const OWN = { denormalized: Type.Optional(Type.Boolean({ default: true })) }

function historyRoute(kind: 'resources' | 'types', path: string, summary: string) {
  return route({
    method: 'GET',
    path: `${path}/:id/changes`,
    scope: 'read',
    summary,
    query: PAGING,
    produces: JSON_OR_PAGE,
    answers: { 200: ChangesSchema },
    handler: async ({ api, params, request, reply }) =>
      sendList(request, reply, await api[kind].changes((params as { readonly id: string }).id, queryOf(request))),
  })
}

const resourceRoutes = [
  route({
    method: 'POST',
    path: RESOURCES,
    scope: 'operate',
    summary: 'Create a resource',
    body: NewResource,
    answers: { 201: CreatedSchema },
    handler: async ({ api, body, reply }) => sendCreated(reply, RESOURCES, await api.resources.create(body)),
  }),
  route({
    method: 'GET',
    path: RESOURCES,
    scope: 'read',
    summary: 'List and search resources',
    query: RESOURCE_LISTING,
    together: locationProblems,
    produces: [...JSON_OR_HAL, CSV_MEDIA_TYPE],
    answers: page,
    handler: async (context) => {
      const { api, request, reply } = context
      if (!accepts(request, CSV_MEDIA_TYPE)) return sendPage(context, await api.resources.list(queryOf(request)))
      const fields = fieldsOf(context.query)
      if (fields.length === 0)
        throw new AppError('VALIDATION', 'Expecting a fields parameter when the Accept header is set to text/csv')
      const found = await api.resources.list(queryOf(request))
      return sendAs(reply.header('x-count', found.total), CSV_MEDIA_TYPE, csvOf(fields, found.values))
    },
  }),
  route({
    method: 'GET',
    path: `${RESOURCES}/:id`,
    scope: 'read',
    summary: 'One resource, by default with inherited values',
    query: OWN,
    produces: JSON_OR_HAL,
    answers: entity,
    handler: async (context) => sendOne(context, await context.api.resources.get(context.params.id, context.query)),
  }),
  route({
    method: 'PUT',
    path: `${RESOURCES}/:id`,
    scope: 'operate',
    summary: 'Replace or create a resource',
    body: ResourceBody,
    isConditional: true,
    produces: JSON_OR_HAL,
    answers: entity,
    handler: async (context) => {
      const { resources } = context.api
      const { id } = context.params
      return sendOne(context, await resources.replace(id, context.body, await condition(context, resources)))
    },
  }),
  route({
    method: 'PATCH',
    path: `${RESOURCES}/:id`,
    scope: 'operate',
    summary: 'Change attributes of a resource, or create it; null removes one',
    body: ResourceBody,
    isConditional: true,
    produces: JSON_OR_HAL,
    answers: entity,
    handler: async (context) => {
      const { resources } = context.api
      const { id } = context.params
      return sendOne(context, await resources.patch(id, context.body, await condition(context, resources)))
    },
  }),
  route({
    method: 'DELETE',
    path: `${RESOURCES}/:id`,
    scope: 'operate',
    summary: 'Delete a resource that is not a parent and not referenced',
    query: { cascade: CASCADE },
    isConditional: true,
    answers: none,
    handler: async (context) => {
      const { resources } = context.api
      await resources.remove(context.params.id, { ...context.query, ...(await condition(context, resources)) })
    },
  }),
  ...(
    [
      ['children', 'Its child resources'],
      ['referrers', 'The resources that refer to it'],
    ] as const
  ).map(([part, summary]) =>
    route({
      method: 'GET',
      path: `${RESOURCES}/:id/${part}`,
      scope: 'read',
      summary,
      query: RESOURCE_LISTING,
      together: locationProblems,
      produces: JSON_OR_HAL,
      answers: page,
      handler: async (context) =>
        sendPage(context, await context.api.resources[part](context.params.id, queryOf(context.request))),
    }),
  ),
  historyRoute('resources', RESOURCES, 'History of writes, newest first; also of a deleted resource'),
  route({
    method: 'GET',
    path: `${RESOURCES}/:id/commands`,
    scope: 'read',
    summary: 'Commands that were executed, newest first',
    query: PAGING,
    answers: { 200: CommandPageSchema },
    handler: async ({ api, params, request, reply }) =>
      counted(reply, await api.resources.commands(params.id, queryOf(request))),
  }),
  route({
    method: 'GET',
    path: `${RESOURCES}/:id/explain`,
    scope: 'read',
    summary: 'Each attribute with its value and origin',
    answers: { 200: AttributeOriginsSchema },
    handler: ({ api, params }) => api.resources.explain(params.id),
  }),
]

const typeRoutes = [
  route({
    method: 'POST',
    path: TYPES,
    scope: 'author',
    summary: 'Create a resource type',
    body: NewType,
    answers: { 201: CreatedSchema },
    handler: async ({ api, body, reply }) => sendCreated(reply, TYPES, await api.types.create(body)),
  }),
  route({
    method: 'GET',
    path: TYPES,
    scope: 'read',
    summary: 'List and search resource types',
    query: TYPE_LISTING,
    answers: page,
    handler: async ({ api, request, reply }) => counted(reply, await api.types.list(queryOf(request))),
  }),
  route({
    method: 'GET',
    path: `${TYPES}/:id`,
    scope: 'read',
    summary: 'One resource type',
    answers: entity,
    handler: async ({ api, params, reply }) => sendVersion(reply, await api.types.get(params.id)),
  }),
  route({
    method: 'PUT',
    path: `${TYPES}/:id`,
    scope: 'author',
    summary: 'Replace a resource type',
    body: TypeBody,
    isConditional: true,
    answers: { 202: EntitySchema },
    handler: async (context) => {
      const { types } = context.api
      const options = await condition(context, types)
      return sendVersion(context.reply.code(202), await types.replace(context.params.id, context.body, options))
    },
  }),
  route({
    method: 'PATCH',
    path: `${TYPES}/:id`,
    scope: 'author',
    summary: 'Change attributes of a resource type, or create it; null removes one',
    body: TypeBody,
    isConditional: true,
    answers: { 201: CreatedSchema, 202: EntitySchema },
    handler: async (context) => {
      const { types } = context.api
      const { reply, params, body } = context
      const { created, ...written } = await types.patch(params.id, body, await condition(context, types))
      return created ? sendCreated(reply, TYPES, written) : sendVersion(reply.code(202), written)
    },
  }),
  route({
    method: 'DELETE',
    path: `${TYPES}/:id`,
    scope: 'author',
    summary: 'Delete an unused resource type',
    isConditional: true,
    answers: none,
    handler: async (context) => {
      const { types } = context.api
      await types.remove(context.params.id, await condition(context, types))
    },
  }),
  historyRoute('types', TYPES, 'History of writes, newest first'),
  route({
    method: 'GET',
    path: `${TYPES}/:id/constraints`,
    scope: 'read',
    summary: 'The constraints of a type: merged, as JSON Schema, or as they were written',
    query: PAGING,
    produces: ['application/json', SCHEMA_MEDIA_TYPE, PAGED_MEDIA_TYPE],
    answers: entity,
    handler: async ({ api, params, request, reply }) => {
      const paged = pagedTypeOf(request.headers.accept)
      const isSchema = accepts(request, SCHEMA_MEDIA_TYPE)
      const form = isSchema ? 'schema' : paged === undefined ? 'merged' : 'paged'
      const constraints = await api.types.constraints(params.id, form, queryOf(request))
      return sendAs(reply, isSchema ? SCHEMA_MEDIA_TYPE : paged, constraints)
    },
  }),
  route({
    method: 'POST',
    path: `${TYPES}/:id/revalidate`,
    scope: 'author',
    summary: 'Check the resources of a type against its constraints again',
    answers: { 202: EntitySchema },
    handler: async ({ api, params, reply }) => sendVersion(reply.code(202), await api.types.revalidate(params.id)),
  }),
]

const constraintRoutes = [
  route({
    method: 'POST',
    path: CONSTRAINTS,
    scope: 'author',
    summary: 'Create a resource constraint',
    body: Constraint,
    answers: { 201: CreatedSchema },
    handler: async ({ api, body, reply }) =>
      sendCreated(reply, CONSTRAINTS, { value: await api.constraints.create(body) }),
  }),
  route({
    method: 'GET',
    path: CONSTRAINTS,
    scope: 'read',
    summary: 'List resource constraints',
    query: CONSTRAINT_LISTING,
    produces: JSON_OR_PAGE,
    answers: { 200: ConstraintsSchema },
    handler: async ({ api, request, reply }) => sendList(request, reply, await api.constraints.list(queryOf(request))),
  }),
  route({
    method: 'GET',
    path: `${CONSTRAINTS}/:id`,
    scope: 'read',
    summary: 'One resource constraint, also as JSON Schema',
    produces: ['application/json', SCHEMA_MEDIA_TYPE],
    answers: entity,
    handler: async ({ api, params, request, reply }) =>
      accepts(request, SCHEMA_MEDIA_TYPE)
        ? sendAs(reply, SCHEMA_MEDIA_TYPE, await api.constraints.schema(params.id))
        : sendAs(reply, undefined, await api.constraints.get(params.id)),
  }),
  route({
    method: 'PUT',
    path: `${CONSTRAINTS}/:id`,
    scope: 'author',
    summary: 'Replace a resource constraint that is not in use',
    body: Constraint,
    answers: entity,
    handler: ({ api, params, body }) => api.constraints.replace(params.id, body),
  }),
  route({
    method: 'DELETE',
    path: `${CONSTRAINTS}/:id`,
    scope: 'author',
    summary: 'Delete an unused resource constraint',
    answers: none,
    handler: ({ api, params }) => api.constraints.remove(params.id),
  }),
]

const eventRoute = routesOf<ReturnType<ResourcesService['as']>>()({
  method: 'GET',
  path: '/api/events',
  scope: 'read',
  summary: 'Changes of resources and types, line by line or as server-sent events',
  query: { objectType: Type.Optional(Type.Enum(['resource', 'resourcetype'])) },
  produces: [NDJSON_MEDIA_TYPE, EVENTS_MEDIA_TYPE],
  handler: ({ api, query: { objectType }, request, reply }) => {
    const lastEventId = request.headers['last-event-id']
    const last = Number(lastEventId)
    const isFrom = Number.isSafeInteger(last) && last > 0
    const reader = api.changes({
      signal: untilClosed(reply),
      overflow: 'end',
      ...(isFrom && { after: last }),
    })
    const chosen = only(reader, objectType)
    if (accepts(request, EVENTS_MEDIA_TYPE))
      return sendEvents(reply, serverEvents(chosen, lastEventId !== undefined && (!isFrom || reader.missed)))
    return sendTexts(reply, chosen, {
      type: NDJSON_MEDIA_TYPE,
      turns,
      quiet: '\n',
      textOf: ({ value }) => `${JSON.stringify(value)}\n`,
    })
  },
})

export function resourcesRoutes(app: FastifyInstance, { service }: { service: ResourcesService }): Promise<void> {
  const routes = [...resourceRoutes, ...typeRoutes, ...constraintRoutes, eventRoute]
  return addRoutes(app, service, { tag: 'resources', errors: ErrorSchema, routes })
}

interface Context {
  readonly api: ResourcesApi
  readonly params: { readonly id: string }
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Passes listing parameters on unparsed: the service parses them itself, since plugs use them too. */
function queryOf({ query }: FastifyRequest): ListQuery {
  return query as ListQuery
}

function condition({ request, params: { id } }: Omit<Context, 'reply' | 'api'>, api: ResourceApi | TypeApi) {
  return writeCondition(request, () => api.get(id))
}

function accepts({ headers }: FastifyRequest, mediaType: string): boolean {
  return headers.accept?.includes(mediaType) === true
}

function sendAs(reply: FastifyReply, type: string | undefined, body: unknown): FastifyReply {
  void reply.header('vary', 'accept')
  if (type === undefined) return reply.send(body)
  return reply.type(`${type}; charset=utf-8`).send(typeof body === 'string' ? body : JSON.stringify(body))
}

function counted(reply: FastifyReply, found: Page<unknown>): FastifyReply {
  return reply.header('x-count', found.total).send(found)
}

function sendList({ headers }: FastifyRequest, reply: FastifyReply, list: Page<unknown>): FastifyReply {
  const paged = pagedTypeOf(headers.accept)
  return sendAs(reply.header('x-count', list.total), paged, paged === undefined ? list.values : list)
}

function sendVersion(reply: FastifyReply, { value, version }: Versioned<ResourceEntity>): FastifyReply {
  return reply.header('etag', `"${version}"`).send(value)
}

function sendCreated(
  reply: FastifyReply,
  collection: string,
  { value: entity, version }: Pick<Versioned<ResourceEntity>, 'value'> & { readonly version?: number },
): FastifyReply {
  if (version !== undefined) void reply.header('etag', `"${version}"`)
  const uri = linkTo(reply.request, `${collection}/${encodeURIComponent(entity.id)}`)
  return reply.code(201).header('location', uri).send({ statusCode: 201, uri, entity })
}

async function sendOne({ api, request, reply }: Context, { value, version }: Versioned<ResourceEntity>) {
  void reply.header('etag', `"${version}"`)
  if (!accepts(request, HAL_MEDIA_TYPE)) return sendAs(reply, undefined, value)
  const [hal] = await halEntity(api.resources, request, [value])
  return sendAs(reply, HAL_MEDIA_TYPE, hal)
}

async function sendPage({ api, request, reply }: Omit<Context, 'params'>, found: Page<ResourceEntity>) {
  void reply.header('x-count', found.total)
  if (!accepts(request, HAL_MEDIA_TYPE)) return sendAs(reply, undefined, found)
  return sendAs(reply, HAL_MEDIA_TYPE, await halPage(api.resources, request, found))
}

/** Formats a header line, then one line per resource; arrays and objects become JSON (RFC 4180). */
function csvOf(fields: readonly string[], entities: readonly ResourceEntity[]): string {
  const lines = entities.map((entity) => fields.map((field) => cellOf(valueAt(entity, field))).join(','))
  return [fields.map(cellOf).join(','), ...lines].map((line) => `${line}\r\n`).join('')
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return csvText(typeof value === 'string' ? withoutFormula(value) : JSON.stringify(value))
}

async function* only(
  reader: AsyncIterable<Published<MetadataEvent>>,
  objectType: string | undefined,
): AsyncGenerator<Published<MetadataEvent>> {
  for await (const event of reader) if (objectType === undefined || event.value.objectType === objectType) yield event
}

/** Sent twice, named and unnamed; only the second has the id, so that an interrupted reader receives both again. */
async function* serverEvents(
  events: AsyncIterable<Published<MetadataEvent>>,
  hasGap: boolean,
): AsyncGenerator<ServerEvent> {
  if (hasGap) yield { event: 'gap', data: {} }
  for await (const { number, value } of events) {
    yield { event: value.type, data: value }
    yield { id: String(number), data: value }
  }
}
