/** What the routes of all services share: what a request says, and how a route is described. */
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { Type, type TSchema } from 'typebox'
import type { Caller } from '#kernel'
import { checkQuery } from './check-query.ts'

const CONDITIONS = Type.Object({
  'If-Match': Type.Optional(Type.String({ description: 'only where what is there has this ETag; *: any' })),
  'If-None-Match': Type.Optional(
    Type.String({ description: 'only where what is there has another ETag; *: nothing is' }),
  ),
})

/** What a handler gets of a request. */
export interface RequestContext<Api, Query> {
  /** the service, as the caller may use it */
  readonly api: Api
  readonly query: Query
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly body: unknown
  /** the `id` of the path, decoded; empty when it has none */
  readonly id: string
  /** a part of the path, decoded */
  param(name: string): string
}

export type Handler<Api, Query> = (context: RequestContext<Api, Query>) => unknown

/** Makes handlers of a service's routes. `queryOf`: how it takes the query of a request. */
export function asking<Api, Query>(queryOf: (query: unknown) => Query) {
  return (service: { as(caller: Caller): Api }, handler: Handler<Api, Query>) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
      // what the host's authentication found out
      const { tenant, user, body } = request
      const params = request.params as Readonly<Record<string, string>>
      const { id = '' } = params
      const query = queryOf(request.query)
      return handler({
        api: service.as({ tenant, user }),
        query,
        request,
        reply,
        body,
        id,
        param: (name) => params[name] ?? '',
      })
    }
}

export interface Description {
  readonly summary: string
  readonly body?: TSchema
  /** every parameter that the route reads; a list may repeat */
  readonly query?: Readonly<Record<string, TSchema>>
  /** names of parameters besides those; each may repeat */
  readonly otherQuery?: RegExp
  /** names of the parts of the path */
  readonly params?: readonly string[]
  /** by status; 200 unless said otherwise */
  readonly answers?: Readonly<Record<number, TSchema>>
  /** content types of the body, when not JSON alone */
  readonly consumes?: readonly string[]
  readonly produces?: readonly string[]
  /** the route reads `If-Match` and `If-None-Match` */
  readonly isConditional?: boolean
  /** what its operation on the API page has besides */
  readonly operation?: { readonly operationId?: string; readonly deprecated?: boolean }
}

/**
 * Makes the options of a service's routes. Their schemas are for readers, the service checks for itself; only the names
 * of parameters are held against them here.
 */
export function describing(tag: string, errors: TSchema) {
  return (description: Description): RouteShorthandOptions => {
    const { summary, body, query, otherQuery, params = [], consumes, produces } = description
    const { isConditional = false, operation } = description
    const { answers = produces === undefined ? {} : { 200: Type.String({ description: 'a stream' }) } } = description
    const texts = Object.fromEntries(params.map((name) => [name, Type.String()]))
    return {
      config: { ...(isConditional && { isConditional }) },
      preHandler: checkQuery({ named: query ?? {}, ...(otherQuery && { others: otherQuery }) }),
      schema: {
        summary,
        tags: [tag],
        ...(body && { body }),
        ...(query && { querystring: Type.Object(query) }),
        ...(isConditional && { headers: CONDITIONS }),
        ...(params.length > 0 && { params: Type.Object(texts) }),
        ...(consumes && { consumes }),
        ...(produces && { produces }),
        ...operation,
        response: { ...answers, '4xx': errors },
      },
    }
  }
}

/** A parameter that may be there several times. */
export const Texts = Type.Array(Type.String())
export const Text = Type.String()
export const Flag = Type.Boolean()
export const Whole = Type.Integer({ minimum: 0 })
