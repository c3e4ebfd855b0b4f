/** What all routes of the service share: who asks, versions, parameters, and how a route is described. */
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import type { ListQuery, ResourceEntity, ResourcesApi, ResourcesService, Versioned, WriteOptions } from '../contract.ts'

export interface Asked {
  readonly api: ResourcesApi
  readonly query: ListQuery
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly body: unknown
  /** of the path */
  readonly id: string
}

export type Handler = (asked: Asked) => unknown

/** A handler that gets what the request says, read. */
export function handle(service: ResourcesService, handler: Handler) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    // what the host's authentication found out
    const { tenant, user, params, query, body } = request
    const { id = '' } = params as { readonly id?: string }
    return handler({ api: service.as({ tenant, user }), query: query as ListQuery, request, reply, body, id })
  }
}

/** What `If-Match` asks for. Throws `PRECONDITION` when it can never hold. */
export async function writeOptions(
  { request }: Asked,
  current: () => Promise<Versioned<ResourceEntity>>,
): Promise<WriteOptions> {
  const header = request.headers['if-match']
  if (header === undefined) return {}
  const tags = header.split(',').map((tag) => tag.trim())
  const versions = tags.flatMap((tag) => {
    const digits = /^(?:W\/)?"(\d{1,15})"$/.exec(tag)?.[1]
    return digits === undefined ? [] : [Number(digits)]
  })
  const [only] = versions
  if (only !== undefined && tags.length === 1) return { ifVersion: only }
  const version = await versionOf(current)
  if (version !== undefined && (tags.includes('*') || versions.includes(version))) return { ifVersion: version }
  throw new AppError('PRECONDITION', `If-Match ${header.slice(0, 200)} does not fit what is there; read it again`)
}

async function versionOf(current: () => Promise<Versioned<ResourceEntity>>): Promise<number | undefined> {
  try {
    return (await current()).version
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

export function sendVersion(reply: FastifyReply, version: number): FastifyReply {
  return reply.header('etag', `"${version}"`)
}

/** The answer to a creation. */
export function sendCreated(reply: FastifyReply, collection: string, entity: ResourceEntity): FastifyReply {
  const uri = `${collection}/${encodeURIComponent(entity.id)}`
  return reply.code(201).header('location', uri).send({ statusCode: 201, uri, entity })
}

export interface Description {
  readonly summary: string
  readonly body?: TSchema
  readonly query?: Readonly<Record<string, TSchema>>
  /** whether the path has an id */
  readonly id?: boolean
  /** by status; 200 unless said otherwise */
  readonly answers?: Readonly<Record<number, TSchema>>
  readonly produces?: readonly string[]
}

/** The options of a route; its schemas are for readers, the service checks for itself. */
export function described(description: Description): RouteShorthandOptions {
  const { summary, body, query, id = false, answers = {}, produces } = description
  return {
    schema: {
      summary,
      tags: ['resources'],
      ...(body && { body }),
      ...(query && { querystring: Type.Object(query) }),
      ...(id && { params: Type.Object({ id: Type.String() }) }),
      ...(produces && { produces }),
      response: { ...answers, '4xx': ErrorSchema },
    },
  }
}

export const EntitySchema = Type.Object({ id: Type.String() }, { additionalProperties: true, title: 'Attributes' })
export const CreatedSchema = Type.Object(
  { statusCode: Type.Integer(), uri: Type.String(), entity: EntitySchema },
  { title: 'Created' },
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
