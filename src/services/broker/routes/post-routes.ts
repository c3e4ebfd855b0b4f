/** Routes that take messages and commands. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { BrokerService, PostOptions } from '../contract.ts'
import { POST_PARAMETERS, readPostQuery } from './post-query.ts'
import { Text } from '#services/shared'
import { described, handle, MessageSchema, type RequestContext } from './route-parts.ts'

const PostedSchema = Type.Object({ message: Text, content: Type.Unknown() })
const query = POST_PARAMETERS
const body = Type.Union([MessageSchema, Type.Array(MessageSchema)])
const answers = { 200: PostedSchema }

export function postRoutes(app: FastifyInstance, service: BrokerService): void {
  const toResource = handle(service, (context) => {
    return context.api.posting.events(context.param('id'), context.body, optionsOf(context))
  })
  const taking = (description: Parameters<typeof described>[0]) => {
    return { ...described(description), config: { takesMessages: true } }
  }
  app.post(
    '/resources/:id/events',
    taking({ summary: 'Post a message of a resource, or an array', params: ['id'], query, body, answers }),
    toResource,
  )
  app.post(
    '/resources/:id',
    taking({ summary: 'The same, at its old place', params: ['id'], query, body, answers }),
    toResource,
  )
  app.post(
    '/messages',
    taking({ summary: 'Post a message, or an array, each with its `resource`', query, body, answers }),
    handle(service, (context) => context.api.posting.events(undefined, context.body, optionsOf(context))),
  )
  app.post(
    '/resources/:id/commands',
    described({
      summary: 'Send a command to a resource',
      params: ['id'],
      body: Type.Object({ name: Text }, { additionalProperties: true }),
      answers,
    }),
    handle(service, (context) =>
      context.api.posting.command(context.param('id'), context.body, { ...keyOf(context), ...context.request.led }),
    ),
  )
}

function optionsOf(context: RequestContext): PostOptions {
  return { ...readPostQuery(context.query), ...keyOf(context), ...context.request.led }
}

function keyOf({ request }: RequestContext): Pick<PostOptions, 'idempotencyKey'> {
  const given = request.headers['idempotency-key']
  const idempotencyKey = Array.isArray(given) ? given[0] : given
  return idempotencyKey === undefined ? {} : { idempotencyKey }
}
