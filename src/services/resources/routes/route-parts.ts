/** What all routes of the service share: who asks, versions, parameters, and how a route is described. */
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { asking, describing, type RequestContext as AskedOf, writeCondition } from '#services/shared'
import type { ListQuery, ResourceEntity, ResourcesApi, Versioned, WriteOptions } from '../contract.ts'

export type RequestContext = AskedOf<ResourcesApi, ListQuery>

export const handle = asking<ResourcesApi, ListQuery>((query) => query as ListQuery)

/** What `If-Match` and `If-None-Match` ask for. Throws `PRECONDITION` when it can never hold. */
export function writeOptions(
  { request }: RequestContext,
  current: () => Promise<Versioned<ResourceEntity>>,
): Promise<WriteOptions> {
  return writeCondition(request, current)
}

export function sendVersion(reply: FastifyReply, version: number): FastifyReply {
  return reply.header('etag', `"${version}"`)
}

/** The answer to a creation. */
export function sendCreated(reply: FastifyReply, collection: string, entity: ResourceEntity): FastifyReply {
  const uri = `${collection}/${encodeURIComponent(entity.id)}`
  return reply.code(201).header('location', uri).send({ statusCode: 201, uri, entity })
}

export const EntitySchema = Type.Object({ id: Type.String() }, { additionalProperties: true, title: 'Attributes' })
export const CreatedSchema = Type.Object(
  { statusCode: Type.Integer(), uri: Type.String(), entity: EntitySchema },
  { title: 'Created' },
)
/** An entry of the history of a resource or type. */
const ChangeSchema = Type.Object(
  {
    time: Type.String({ description: 'ISO 8601' }),
    userId: Type.String(),
    change: Type.Enum(['created', 'updated', 'deleted']),
  },
  { additionalProperties: true, title: 'Change' },
)
export const ChangesSchema = Type.Array(ChangeSchema, { title: 'Changes' })
export const AttributeOriginsSchema = Type.Array(
  Type.Object(
    {
      attribute: Type.String(),
      value: Type.Unknown(),
      from: Type.Enum(['resource', 'type']),
      id: Type.String({ description: 'of the resource or the type' }),
      hidden: Type.Optional(Type.Unknown({ description: 'what the type says, where the resource says otherwise' })),
    },
    { title: 'AttributeOrigin' },
  ),
  { title: 'AttributeOrigins' },
)
export const ConstraintsSchema = Type.Array(EntitySchema, { title: 'Constraints' })
export const CommandPageSchema = Type.Object(
  {
    values: Type.Array(
      Type.Object(
        { name: Type.String(), executionTime: Type.String({ description: 'ISO 8601' }) },
        { additionalProperties: true, title: 'CommandExecution' },
      ),
    ),
    skip: Type.Integer(),
    limit: Type.Integer(),
    total: Type.Integer(),
  },
  { title: 'CommandPage' },
)
export const PageSchema = Type.Object(
  { values: Type.Array(EntitySchema), skip: Type.Integer(), limit: Type.Integer(), total: Type.Integer() },
  { title: 'Page' },
)
export const PagingSchema = {
  skip: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
}

const ErrorSchema = Type.Object(
  {
    statusCode: Type.Integer(),
    error: Type.String(),
    code: Type.Optional(Type.String()),
    details: Type.Optional(Type.Array(Type.Object({}, { additionalProperties: true }))),
  },
  { title: 'Error' },
)

export const described = describing('resources', ErrorSchema)
