/** Routes of resources. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { csvText, type Page, withoutFormula } from '#kernel'
import { HAL_MEDIA_TYPE, PAGED_MEDIA_TYPE, pagedTypeOf, QueryReader } from '#services/shared'
import type { ResourceEntity, ResourcesService, Versioned } from '../contract.ts'
import { fieldsOf, valueAt } from '../list/project.ts'
import {
  AttributeOriginsSchema,
  ChangesSchema,
  CommandPageSchema,
  CreatedSchema,
  described,
  EntitySchema,
  handle,
  PageSchema,
  PagingSchema,
  type RequestContext,
  sendCreated,
  sendVersion,
  writeOptions,
} from './route-parts.ts'
import { halEntity, halPage } from './hal.ts'

/** The parameters of the listing of resources, as the API page shows them. */
const text = Type.Optional(Type.String())
const texts = Type.Optional(Type.Array(Type.String()))

/** The parameters of the listing of resources, for readers. */
const LISTING = {
  filter: Type.Optional(Type.String({ maxLength: 256, description: 'Text somewhere in id, name, tags ...' })),
  query: Type.Optional(Type.String({ description: 'Such as name:like(pump*) AND limits.minimum:gt(3)' })),
  tag: texts,
  id: texts,
  provider: texts,
  customer: texts,
  resourceTypeId: texts,
  toplevelOnly: Type.Optional(Type.Boolean()),
  lat: Type.Optional(Type.Number()),
  lon: Type.Optional(Type.Number()),
  distance: Type.Optional(Type.String({ description: 'Such as 500m, 100km or 3mi' })),
  sort: text,
  order: Type.Optional(Type.Enum(['ascending', 'descending'])),
  field: texts,
  fields: texts,
  denormalized: Type.Optional(Type.Boolean({ default: true })),
  ...PagingSchema,
}

const COLLECTION = '/api/resources'
const ONE = `${COLLECTION}/:id`
const entity = { answers: { 200: EntitySchema } }
const page = { answers: { 200: PageSchema } }
const produces = ['application/json', HAL_MEDIA_TYPE]

export function resourceRoutes(app: FastifyInstance, service: ResourcesService): void {
  app.post(
    COLLECTION,
    described({ summary: 'Create a resource', body: EntitySchema, answers: { 201: CreatedSchema } }),
    handle(service, async ({ api, body, reply }) => {
      const { value, version } = await api.resources.create(body)
      return sendCreated(sendVersion(reply, version), COLLECTION, value)
    }),
  )
  app.get(
    COLLECTION,
    described({ summary: 'List and search resources', query: LISTING, produces: [...produces, 'text/csv'], ...page }),
    handle(service, async (context) => {
      const { api, query, request, reply } = context
      if (!accepts(request, 'text/csv')) return sendPage(context, await api.resources.list(query))
      const fields = fieldsOf(query, true)
      const found = await api.resources.list(query)
      void reply.header('x-count', found.total).header('vary', 'accept')
      return reply.type('text/csv; charset=utf-8').send(csvOf(fields, found.values))
    }),
  )
  app.get(
    ONE,
    described({
      summary: 'One resource, with inherited values unless it is asked for its own',
      params: ['id'],
      query: { denormalized: Type.Optional(Type.Boolean({ default: true })) },
      produces,
      ...entity,
    }),
    handle(service, async (context) => {
      const reader = new QueryReader(context.query)
      const denormalized = reader.flag('denormalized') ?? true
      reader.done()
      return sendOne(context, await context.api.resources.get(context.id, { denormalized }))
    }),
  )
  app.put(
    ONE,
    described({
      summary: 'Replace a resource, or make it',
      params: ['id'],
      body: EntitySchema,
      produces,
      isConditional: true,
      ...entity,
    }),
    handle(service, async (context) => {
      const { api, id, body } = context
      const options = await writeOptions(context, () => api.resources.get(id))
      return sendOne(context, await api.resources.replace(id, body, options))
    }),
  )
  app.patch(
    ONE,
    described({
      summary: 'Change attributes of a resource, or make it; null removes one',
      isConditional: true,
      params: ['id'],
      body: Type.Object({}, { additionalProperties: true }),
      produces,
      ...entity,
    }),
    handle(service, async (context) => {
      const { api, id, body } = context
      const options = await writeOptions(context, () => api.resources.get(id))
      return sendOne(context, await api.resources.patch(id, body, options))
    }),
  )
  app.delete(
    ONE,
    described({
      summary: 'Delete a resource that no other has as parent or refers to',
      isConditional: true,
      params: ['id'],
      query: { cascade: Type.Optional(Type.Array(Type.Enum(['alarms', 'measurements', 'tasks']))) },
      answers: { 204: Type.Null() },
    }),
    handle(service, async (context) => {
      const { api, id, query, reply } = context
      const options = await writeOptions(context, () => api.resources.get(id))
      const cascade = new QueryReader(query).texts('cascade').flatMap((names) => names.split(','))
      await api.resources.remove(id, { ...options, cascade: cascade.filter((name) => name !== '') })
      return reply.code(204).send()
    }),
  )
  partRoutes(app, service)
}

function partRoutes(app: FastifyInstance, service: ResourcesService): void {
  app.get(
    `${ONE}/children`,
    described({ summary: 'The resources whose parent it is', params: ['id'], query: LISTING, produces, ...page }),
    handle(service, async (context) =>
      sendPage(context, await context.api.resources.children(context.id, context.query)),
    ),
  )
  app.get(
    `${ONE}/referrers`,
    described({ summary: 'The resources that refer to it', params: ['id'], query: LISTING, produces, ...page }),
    handle(service, async (context) =>
      sendPage(context, await context.api.resources.referrers(context.id, context.query)),
    ),
  )
  app.get(
    `${ONE}/changes`,
    described({
      summary: 'What was written, newest first; also of a resource that is deleted',
      params: ['id'],
      query: PagingSchema,
      produces: ['application/json', PAGED_MEDIA_TYPE],
      answers: { 200: ChangesSchema },
    }),
    handle(service, async ({ api, id, query, request, reply }) =>
      sendChanges(request, reply, await api.resources.changes(id, query)),
    ),
  )
  app.get(
    `${ONE}/commands`,
    described({
      summary: 'Commands that were executed, newest first',
      params: ['id'],
      query: PagingSchema,
      answers: { 200: CommandPageSchema },
    }),
    handle(service, async ({ api, id, query, reply }) => {
      const found = await api.resources.commands(id, query)
      return reply.header('x-count', found.total).send(found)
    }),
  )
  app.get(
    `${ONE}/explain`,
    described({
      summary: 'Each attribute with its value and where it comes from',
      params: ['id'],
      answers: { 200: AttributeOriginsSchema },
    }),
    handle(service, ({ api, id }) => api.resources.explain(id)),
  )
}

/** An array, or a page by its media type. */
export function sendChanges(request: FastifyRequest, reply: FastifyReply, changes: Page<unknown>): FastifyReply {
  void reply.header('x-count', changes.total).header('vary', 'accept')
  const paged = pagedTypeOf(request.headers.accept)
  if (paged === undefined) return reply.send(changes.values)
  return reply.type(`${paged}; charset=utf-8`).send(JSON.stringify(changes))
}

export function accepts({ headers }: FastifyRequest, mediaType: string): boolean {
  return headers.accept?.includes(mediaType) === true
}

async function sendOne({ api, request, reply }: RequestContext, { value, version }: Versioned<ResourceEntity>) {
  void sendVersion(reply, version).header('vary', 'accept')
  if (!accepts(request, HAL_MEDIA_TYPE)) return reply.send(value)
  const [hal] = await halEntity(api.resources, [value])
  return reply.type(`${HAL_MEDIA_TYPE}; charset=utf-8`).send(JSON.stringify(hal))
}

async function sendPage({ api, request, reply }: RequestContext, found: Page<ResourceEntity>): Promise<FastifyReply> {
  void reply.header('x-count', found.total).header('vary', 'accept')
  if (!accepts(request, HAL_MEDIA_TYPE)) return reply.send(found)
  const body = await halPage(api.resources, request.url, found)
  return reply.type(`${HAL_MEDIA_TYPE}; charset=utf-8`).send(JSON.stringify(body))
}

/** One line of names, then a line for each resource; lists and objects as JSON (RFC 4180). */
function csvOf(fields: readonly string[], entities: readonly ResourceEntity[]): string {
  const lines = entities.map((entity) => fields.map((field) => cellOf(valueAt(entity, field))).join(','))
  return [fields.map(cellOf).join(','), ...lines].map((line) => `${line}\r\n`).join('')
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = typeof value === 'string' ? withoutFormula(text) : text
  return csvText(safe)
}
