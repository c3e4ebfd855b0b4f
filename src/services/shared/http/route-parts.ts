/** How a route is described: its operation on the API page, and the check of the names of its parameters. */
import type { RouteShorthandOptions } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { checkQuery } from './check-query.ts'

const CONDITIONS = Type.Object({
  'If-Match': Type.Optional(Type.String({ description: 'only where what is there has this ETag; *: any' })),
  'If-None-Match': Type.Optional(
    Type.String({ description: 'only where what is there has another ETag; *: nothing is' }),
  ),
})

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
