/** What all routes of the service share: who asks, parameters, and how a route is described. */
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { Type, type TSchema } from 'typebox'
import type { PostOptions, RulesApi, RulesService } from '../contract.ts'
import { ErrorBodySchema } from '../shared-schema.ts'
import { QueryReader } from '../../../web/query-reader.ts'

export interface Asked {
  readonly api: RulesApi
  readonly query: QueryReader
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly body: unknown
  /** a part of the path */
  param(name: string): string
}

export type Handler = (asked: Asked) => unknown

/** A handler that gets what the request says, read. */
export function handle(service: RulesService, handler: Handler) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    // what the host's authentication found out
    const { tenant, user } = request
    const params = request.params as Readonly<Record<string, string>>
    return handler({
      api: service.as({ tenant, user }),
      query: new QueryReader(request.query),
      request,
      reply,
      body: request.body,
      param: (name) => params[name] ?? '',
    })
  }
}

export interface Description {
  readonly summary: string
  readonly body?: TSchema
  readonly query?: Readonly<Record<string, TSchema>>
  readonly params?: readonly string[]
  /** by status; 200 unless said otherwise */
  readonly answers?: Readonly<Record<number, TSchema>>
  /** content types of the body, when not JSON alone */
  readonly consumes?: readonly string[]
  readonly produces?: readonly string[]
}

/** The options of a route; its schemas are for readers, the service checks for itself. */
export function described(description: Description): RouteShorthandOptions {
  const { summary, body, query, params = [], answers = {}, consumes, produces } = description
  const texts = Object.fromEntries(params.map((name) => [name, Type.String()]))
  return {
    schema: {
      summary,
      tags: ['rules'],
      ...(body && { body }),
      ...(query && { querystring: Type.Object(query) }),
      ...(params.length > 0 && { params: Type.Object(texts) }),
      ...(consumes && { consumes }),
      ...(produces && { produces }),
      response: { ...answers, '4xx': ErrorBodySchema },
    },
  }
}

export const Text = Type.String()
export const Flag = Type.Boolean()
/** How strictly a rule or template is taken. */
export const CHECKS = {
  failOnWarning: Type.Optional(Flag),
  strict: Type.Optional(Flag),
  returnWarnings: Type.Optional(Flag),
}

export function readChecks(query: QueryReader): PostOptions {
  const failOnWarning = query.flag('failOnWarning') ?? false
  const strict = query.flag('strict') ?? false
  const returnWarnings = query.flag('returnWarnings') ?? false
  query.done()
  return { failOnWarning, strict, returnWarnings }
}

export const Whole = Type.Integer({ minimum: 0 })
export const Version = Type.Integer({ minimum: 1, description: 'number of a version of a template' })
