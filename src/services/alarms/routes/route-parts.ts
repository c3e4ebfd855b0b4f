/** What all routes of the service share: who asks, and how a route is described. */
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { ErrorSchema } from '../alarm-schema.ts'
import type { AlarmQuery, AlarmsApi, AlarmsService } from '../contract.ts'

export interface Asked {
  readonly api: AlarmsApi
  /** the `id` of the path */
  readonly id: string
  readonly query: AlarmQuery
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** A handler that gets what the request says. */
export function handle(service: AlarmsService, handler: (asked: Asked) => unknown) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    // what the host's authentication found out
    const { tenant, user } = request
    const { id = '' } = request.params as { readonly id?: string }
    return handler({ api: service.as({ tenant, user }), id, query: request.query as AlarmQuery, request, reply })
  }
}

export interface Description {
  readonly summary: string
  readonly body?: TSchema
  readonly query?: Readonly<Record<string, TSchema>>
  readonly answers?: Readonly<Record<number, TSchema>>
  readonly produces?: readonly string[]
  readonly hasId?: boolean
}

/** The options of a route; its schemas are for readers, the service checks for itself. */
export function described(description: Description): RouteShorthandOptions {
  const { summary, body, query, answers = {}, produces, hasId = false } = description
  return {
    schema: {
      summary,
      tags: ['alarms'],
      ...(body && { body }),
      ...(query && { querystring: Type.Object(query) }),
      ...(hasId && { params: Type.Object({ id: Type.String() }) }),
      ...(produces && { produces }),
      response: { ...answers, '4xx': ErrorSchema },
    },
  }
}
