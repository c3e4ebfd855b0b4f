/** Routes of resource constraints. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { PAGED_MEDIA_TYPE } from '#services/shared'
import type { ResourcesService } from '../contract.ts'
import { accepts, sendChanges } from './resource-routes.ts'
import {
  ConstraintsSchema,
  CreatedSchema,
  described,
  EntitySchema,
  handle,
  PagingSchema,
  sendCreated,
} from './route-parts.ts'
import { SCHEMA_MEDIA_TYPE } from './type-routes.ts'

const COLLECTION = '/api/resourceconstraints'
const ONE = `${COLLECTION}/:id`
const entity = { answers: { 200: EntitySchema } }
const body = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    description: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Array(Type.String())),
    attributes: Type.Array(
      Type.Object({
        name: Type.String({ minLength: 1 }),
        required: Type.Boolean(),
        type: Type.Object({ type: Type.String() }, { additionalProperties: true }),
      }),
    ),
  },
  { title: 'Constraint' },
)

export function constraintRoutes(app: FastifyInstance, service: ResourcesService): void {
  app.post(
    COLLECTION,
    described({ summary: 'Create a resource constraint', body, answers: { 201: CreatedSchema } }),
    handle(service, async ({ api, body: sent, reply }) =>
      sendCreated(reply, COLLECTION, await api.constraints.create(sent)),
    ),
  )
  app.get(
    COLLECTION,
    described({
      summary: 'List resource constraints',
      query: {
        filter: Type.Optional(Type.String({ maxLength: 256 })),
        query: Type.Optional(Type.String({ description: 'Over tags, such as tags:in(a,b)' })),
        ...PagingSchema,
      },
      produces: ['application/json', PAGED_MEDIA_TYPE],
      answers: { 200: ConstraintsSchema },
    }),
    handle(service, async ({ api, query, request, reply }) =>
      sendChanges(request, reply, await api.constraints.list(query)),
    ),
  )
  app.get(
    ONE,
    described({
      summary: 'One resource constraint, also as JSON Schema',
      params: ['id'],
      produces: ['application/json', SCHEMA_MEDIA_TYPE],
      ...entity,
    }),
    handle(service, async ({ api, id, request, reply }) => {
      void reply.header('vary', 'accept')
      if (!accepts(request, SCHEMA_MEDIA_TYPE)) return api.constraints.get(id)
      const schema = await api.constraints.schema(id)
      return reply.type(`${SCHEMA_MEDIA_TYPE}; charset=utf-8`).send(JSON.stringify(schema))
    }),
  )
  app.put(
    ONE,
    described({
      summary: 'Replace a resource constraint that no resource is held against',
      params: ['id'],
      body,
      ...entity,
    }),
    handle(service, ({ api, id, body: sent }) => api.constraints.replace(id, sent)),
  )
  app.delete(
    ONE,
    described({
      summary: 'Delete a resource constraint that no type has',
      params: ['id'],
      answers: { 204: Type.Null() },
    }),
    handle(service, async ({ api, id, reply }) => {
      await api.constraints.remove(id)
      return reply.code(204).send()
    }),
  )
}
