/** Routes whose answers go on, beside the sockets on the same paths. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { EVENTS_MEDIA_TYPE, NDJSON_MEDIA_TYPE, Text } from '#services/shared'
import type { BrokerService, Channel, StreamApi, Subscription } from '../../contract.ts'
import { described, handle, MessageSchema, type RequestContext } from '../route-parts.ts'
import { type Form, StreamBody } from './stream-body.ts'
import type { SocketHandler } from './sockets.ts'
import type { Streaming } from './streaming.ts'

/** What form of an answer a request asks for. */
type Accepted = 'event' | 'line' | 'json'

const FORMS: ReadonlyMap<string, Accepted> = new Map([
  [EVENTS_MEDIA_TYPE, 'event'],
  [NDJSON_MEDIA_TYPE, 'line'],
  ['application/json', 'json'],
  ['application/*', 'json'],
  ['*/*', 'json'],
])

/** The first type that can be given; `undefined` when none can. Without the header: JSON. */
function acceptedForm(accept: string | undefined): Accepted | undefined {
  if (accept === undefined || accept.trim() === '') return 'json'
  for (const part of accept.toLowerCase().split(',')) {
    const form = FORMS.get((part.split(';', 1)[0] ?? '').trim())
    if (form !== undefined) return form
  }
  return undefined
}

function notAcceptable(accept: string | undefined): { readonly error: string } {
  const types = [...FORMS.keys()].filter((type) => !type.includes('*')).join(', ')
  return { error: `Not acceptable. You requested [${accept?.slice(0, 200)}] but we only support [${types}]` }
}

const produces = ['application/json', EVENTS_MEDIA_TYPE, NDJSON_MEDIA_TYPE]
/** What readers who come back say, and those who want to be able to. */
export const RESUMING = { lastEventId: Type.Optional(Text), withIds: Type.Optional(Type.Boolean()) }

/** `sockets`: what the path does when it is upgraded. */
export function channelRoute(
  app: FastifyInstance,
  { service, streaming }: { readonly service: BrokerService; readonly streaming: Streaming },
  channel: Channel,
  wsHandler: SocketHandler,
): void {
  app.route({
    method: 'GET',
    url: `/resources/:id/${channel}`,
    // a stream that nobody reads would not end
    exposeHeadRoute: false,
    ...described({
      summary: `The last ${channel}; with Accept a stream of those to come; as a WebSocket see ${channel}/subscribe and ${channel}/publish`,
      params: ['id'],
      query: RESUMING,
      produces,
      answers: { 200: Type.Array(MessageSchema) },
    }),
    wsHandler,
    handler: handle(service, (context) => {
      const { api, param, request, reply } = context
      const { accept } = request.headers
      const form = acceptedForm(accept)
      if (form === undefined) return reply.code(406).send(notAcceptable(accept))
      if (form === 'json') return api.messages.last(param('id'), channel)
      return send(context, streaming, form, (options) => api.streams.subscribe(param('id'), channel, options))
    }),
  })
}

export function firehoseRoute(app: FastifyInstance, service: BrokerService, streaming: Streaming): void {
  app.route({
    method: 'GET',
    url: '/messages',
    exposeHeadRoute: false,
    ...described({
      summary:
        'All messages as they come, a line of JSON each; a reader that is too slow loses some and is told how many',
      query: RESUMING,
      produces: produces.slice(1),
    }),
    handler: handle(service, (context) => {
      const form = acceptedForm(context.request.headers.accept)
      if (form === undefined) return context.reply.code(406).send(notAcceptable(context.request.headers.accept))
      const firehose = (options: Subscription) => context.api.streams.firehose(options)
      return send(context, streaming, form === 'event' ? 'event' : 'line', firehose)
    }),
  })
}

type Subscribe = (options: Subscription) => ReturnType<StreamApi['subscribe']>

async function send(
  { query, request, reply }: RequestContext,
  streaming: Streaming,
  asked: 'event' | 'line',
  subscribe: Subscribe,
): Promise<FastifyReply> {
  const { frames, open } = streaming
  // a browser cannot set the header on its first request
  const id = headerOf(request, 'last-event-id') ?? query.text('lastEventId')
  const form: Form = query.flag('withIds') === true && asked === 'line' ? 'markedLine' : asked
  query.done()
  const { seen, isForeign } = frames.cameBack(id)
  const gone = new AbortController()
  const reader = subscribe({ signal: gone.signal, ...seen })
  reply.raw.once('close', () => gone.abort())
  await reader.ready
  const begun = (): void => reply.raw.flushHeaders()
  const body = new StreamBody({ reader, form, frames, open, isForeign, begun })
  reply.raw.once('close', () => body.destroy())
  return reply
    .type(form === 'event' ? `${EVENTS_MEDIA_TYPE}; charset=utf-8` : NDJSON_MEDIA_TYPE)
    .header('cache-control', 'no-cache')
    .header('x-accel-buffering', 'no')
    .send(body)
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const given = headers[name]
  return Array.isArray(given) ? given[0] : given
}
