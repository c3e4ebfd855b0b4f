/** Routes of resource types. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { PAGED_MEDIA_TYPE, pagedTypeOf } from '#services/shared'
import type { ResourcesService } from '../contract.ts'
import { accepts, sendChanges } from './resource-routes.ts'
import {
  ChangesSchema,
  CreatedSchema,
  described,
  EntitySchema,
  handle,
  PageSchema,
  PagingSchema,
  sendCreated,
  sendVersion,
  writeOptions,
} from './route-parts.ts'

const COLLECTION = '/api/resourcetypes'
const ONE = `${COLLECTION}/:id`
export const SCHEMA_MEDIA_TYPE = 'application/schema+json'
const body = Type.Object({}, { additionalProperties: true })
const text = Type.Optional(Type.String())

export function typeRoutes(app: FastifyInstance, service: ResourcesService): void {
  app.post(
    COLLECTION,
    described({ summary: 'Create a resource type', body, answers: { 201: CreatedSchema } }),
    handle(service, async ({ api, body: sent, reply }) => {
      const { value, version } = await api.types.create(sent)
      return sendCreated(sendVersion(reply, version), COLLECTION, value)
    }),
  )
  app.get(
    COLLECTION,
    described({
      summary: 'List and search resource types',
      query: {
        filter: Type.Optional(Type.String({ maxLength: 256 })),
        query: text,
        id: Type.Optional(Type.Array(Type.String())),
        template: Type.Optional(Type.Array(Type.String())),
        field: Type.Optional(Type.Array(Type.String())),
        fields: Type.Optional(Type.Array(Type.String())),
        ...PagingSchema,
      },
      answers: { 200: PageSchema },
    }),
    handle(service, async ({ api, query, reply }) => {
      const found = await api.types.list(query)
      return reply.header('x-count', found.total).send(found)
    }),
  )
  app.get(
    ONE,
    described({ summary: 'One resource type', params: ['id'], answers: { 200: EntitySchema } }),
    handle(service, async ({ api, id, reply }) => {
      const { value, version } = await api.types.get(id)
      return sendVersion(reply, version).send(value)
    }),
  )
  app.put(
    ONE,
    described({
      summary: 'Replace a resource type',
      params: ['id'],
      body,
      isConditional: true,
      answers: { 202: EntitySchema },
    }),
    handle(service, async (context) => {
      const { api, id, reply } = context
      const options = await writeOptions(context, () => api.types.get(id))
      const { value, version } = await api.types.replace(id, context.body, options)
      return sendVersion(reply.code(202), version).send(value)
    }),
  )
  app.patch(
    ONE,
    described({
      summary: 'Change attributes of a resource type, or make it; null removes one',
      isConditional: true,
      params: ['id'],
      body,
      answers: { 201: CreatedSchema, 202: EntitySchema },
    }),
    handle(service, async (context) => {
      const { api, id, reply } = context
      const options = await writeOptions(context, () => api.types.get(id))
      const { value, version, created } = await api.types.patch(id, context.body, options)
      void sendVersion(reply, version)
      return created ? sendCreated(reply, COLLECTION, value) : reply.code(202).send(value)
    }),
  )
  app.delete(
    ONE,
    described({
      summary: 'Delete a resource type that no resource uses',
      isConditional: true,
      params: ['id'],
      answers: { 204: Type.Null() },
    }),
    handle(service, async (context) => {
      const { api, id, reply } = context
      await api.types.remove(id, await writeOptions(context, () => api.types.get(id)))
      return reply.code(204).send()
    }),
  )
  app.get(
    `${ONE}/changes`,
    described({
      summary: 'What was written, newest first',
      params: ['id'],
      query: PagingSchema,
      produces: ['application/json', PAGED_MEDIA_TYPE],
      answers: { 200: ChangesSchema },
    }),
    handle(service, async ({ api, id, query, request, reply }) =>
      sendChanges(request, reply, await api.types.changes(id, query)),
    ),
  )
  app.get(
    `${ONE}/constraints`,
    described({
      summary: 'The constraints of a type: merged, as JSON Schema, or as they were written',
      params: ['id'],
      query: PagingSchema,
      produces: ['application/json', SCHEMA_MEDIA_TYPE, PAGED_MEDIA_TYPE],
      answers: { 200: EntitySchema },
    }),
    handle(service, async ({ api, id, query, request, reply }) => {
      void reply.header('vary', 'accept')
      if (accepts(request, SCHEMA_MEDIA_TYPE)) {
        const schema = await api.types.constraints(id, 'schema')
        return reply.type(`${SCHEMA_MEDIA_TYPE}; charset=utf-8`).send(JSON.stringify(schema))
      }
      const paged = pagedTypeOf(request.headers.accept)
      if (paged === undefined) return api.types.constraints(id, 'merged')
      const page = await api.types.constraints(id, 'paged', query)
      return reply.type(`${paged}; charset=utf-8`).send(JSON.stringify(page))
    }),
  )
  app.post(
    `${ONE}/revalidate`,
    described({
      summary: 'Hold the resources of a type against its constraints again',
      params: ['id'],
      answers: { 202: EntitySchema },
    }),
    handle(service, async ({ api, id, reply }) => {
      const { value, version } = await api.types.revalidate(id)
      return sendVersion(reply.code(202), version).send(value)
    }),
  )
}
