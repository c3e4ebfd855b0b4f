/** What all routes of the broker share: who asks, parameters, and how a route is described. */
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { QueryReader } from '../../../web/query-reader.ts'
import type { BrokerApi, BrokerService } from '../contract.ts'

export interface Asked {
  readonly api: BrokerApi
  readonly query: QueryReader
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly body: unknown
  /** a part of the path, decoded */
  param(name: string): string
}

export type Handler = (asked: Asked) => unknown

/** A handler that gets what the request says, read. */
export function handle(service: BrokerService, handler: Handler) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    // what the host's authentication found out
    const { tenant, user } = request
    const params = request.params as Readonly<Record<string, string>>
    const asked = {
      api: service.as({ tenant, user }),
      query: new QueryReader(request.query),
      request,
      reply,
      body: request.body,
      param: (name: string) => params[name] ?? '',
    }
    try {
      return await handler(asked)
    } catch (error) {
      if (error instanceof AppError && error.code === 'RATE_LIMITED') reply.header('retry-after', 1)
      throw error
    }
  }
}

export interface Description {
  readonly summary: string
  readonly body?: TSchema
  readonly query?: Readonly<Record<string, TSchema>>
  readonly params?: readonly string[]
  /** by status; 200 unless said otherwise */
  readonly answers?: Readonly<Record<number, TSchema>>
  readonly produces?: readonly string[]
}

/** The options of a route; its schemas are for readers, the service checks for itself. */
export function described(description: Description): RouteShorthandOptions {
  const { summary, body, query, params = [], answers = {}, produces } = description
  const texts = Object.fromEntries(params.map((name) => [name, Type.String()]))
  return {
    schema: {
      summary,
      tags: ['broker'],
      ...(body && { body }),
      ...(query && { querystring: Type.Object(query) }),
      ...(params.length > 0 && { params: Type.Object(texts) }),
      ...(produces && { produces }),
      response: { ...answers, '4xx': ErrorBodySchema },
    },
  }
}

/** `details` are lines such as `/resource <- must be a text`. */
const ErrorBodySchema = Type.Object({ error: Type.String(), details: Type.Optional(Type.Array(Type.String())) })

export const MessageSchema = Type.Object(
  { timestamp: Type.Optional(Type.Union([Type.Number(), Type.String()])) },
  { additionalProperties: true },
)
export const Text = Type.String()
export const Flag = Type.Boolean()
export const Whole = Type.Integer({ minimum: 0 })
