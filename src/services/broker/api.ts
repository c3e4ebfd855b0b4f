/** Routes of the broker over HTTP, server-sent events and WebSockets. */
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { AppError, type Scope } from '#kernel'
import { machineTimers } from '#platform'
import {
  addRoutes,
  type Checked,
  EVENTS_MEDIA_TYPE,
  HAL_MEDIA_TYPE,
  linkTo,
  NDJSON_MEDIA_TYPE,
  routesOf,
} from '#services/shared'
import type { BrokerApi, BrokerService, Channel, Posted, PostOptions } from './contract.ts'
import { PublishedMessage } from './posting/answer.ts'
import {
  CommandSchema,
  ErrorSchema,
  MessageSchema,
  PostedSchema,
  POSTING,
  PostSchema,
  RoutedPostSchema,
} from './posting/message-schema.ts'
import {
  FROM_UNTIL,
  HalSchema,
  LIMIT,
  MESSAGES,
  MessageQuery,
  PAGE,
  QueriedSchema,
  SERIES,
  type SeriesPage,
  SeriesQueryBody,
  SeriesQueryList,
  SeriesSchema,
  UNTIL,
} from './series/series-schema.ts'
import { Frames } from './streams/frames.ts'
import { OpenStreams, TICK_MS } from './streams/open-streams.ts'
import { acceptedForm, notAcceptable, RESUMING, sendStream, type Streaming } from './streams/send-stream.ts'
import { type SocketHandler, Sockets } from './streams/sockets.ts'

export interface BrokerRoutes {
  readonly service: BrokerService
  /** identifies this process in the ids of server-sent events: letters and digits */
  readonly life: string
  /** identifies the store in those ids; undefined: readers cannot resume at another process */
  readonly store?: string | undefined
  readonly frameBytes: number
  /** Default: machine timers, which do not keep a process alive. */
  readonly every?: (ms: number, work: () => void) => () => void
}

/** ms within which a client must respond when its socket is closed */
const FAREWELL_MS = 1_000

export async function brokerRoutes(app: FastifyInstance, options: BrokerRoutes): Promise<void> {
  const { service, life, store, frameBytes, every = machineTimers.every } = options
  const streaming = { frames: new Frames(life, store), open: new OpenStreams() }
  await app.register(async (child) => {
    const stop = every(TICK_MS, () => streaming.open.tick())
    child.addHook('onClose', async () => stop())
    await child.register(websocket, {
      options: { maxPayload: frameBytes },
      // `ws` itself closes the socket after an invalid frame
      errorHandler: (error, socket, request) => {
        request.log.debug({ err: error }, 'a socket failed')
        socket.terminate()
      },
      preClose(done) {
        const { clients } = this.websocketServer
        for (const client of clients) client.close(1001, 'the host is closing')
        const cancel = machineTimers.later(FAREWELL_MS, () => {
          for (const client of clients) client.terminate()
        })
        this.websocketServer.close(cancel)
        done()
      },
    })
    // the package would accept an upgrade of any route in this scope, and close it
    child.addHook('onRequest', (request, _reply, done) =>
      request.ws && request.routeOptions.config.isSocket !== true ? done(notSocket(request.url)) : done(),
    )
    const routes = [...ROUTES, ...streamRoutes(streaming, new Sockets(service, streaming))]
    await addRoutes(child, service, { tag: 'broker', errors: ErrorSchema, routes })
  })
}

const route = routesOf<BrokerApi>()
const Text = Type.String()

function unread<S extends TSchema>(schema: S): Checked<S> {
  return { schema, read: (value) => value as ReturnType<Checked<S>['read']> }
}

const posts = {
  method: 'POST',
  scope: 'device',
  query: POSTING,
  answers: { 200: PostedSchema },
  server: { config: { takesMessages: true } },
} as const
const removed = { 200: Type.Object({ message: Text }) }
const read = { method: 'GET', scope: 'read' } as const

function toResource(path: '/resources/:id' | '/resources/:id/events', summary: string) {
  return route({
    ...posts,
    path,
    summary,
    body: unread(PostSchema),
    handler: async ({ api, params: { id }, query, request, reply }) =>
      sent(reply, await api.posting.events(id, request.body, { ...query, ...keyOf(request), ...request.led })),
  })
}

const ROUTES = [
  toResource('/resources/:id/events', 'Post a message of a resource, or an array'),
  toResource('/resources/:id', 'The same, at a deprecated path'),
  route({
    ...posts,
    path: '/messages',
    summary: 'Post a message, or an array, each with its `resource`',
    body: unread(RoutedPostSchema),
    handler: async ({ api, query, request, reply }) =>
      sent(reply, await api.posting.events(undefined, request.body, { ...query, ...keyOf(request), ...request.led })),
  }),
  route({
    method: 'POST',
    path: '/resources/:id/commands',
    scope: 'operate',
    summary: 'Send a command to a resource',
    body: unread(CommandSchema),
    answers: { 200: PostedSchema },
    handler: ({ api, params, request }) =>
      api.posting.command(params.id, request.body, { ...keyOf(request), ...request.led }),
  }),
  route({
    ...read,
    path: '/resources/:id/current',
    summary: 'The newest stored message',
    answers: { 200: MessageSchema },
    handler: ({ api, params }) => api.messages.current(params.id),
  }),
  route({
    ...read,
    path: '/resources/:id/messages',
    summary: 'The newest messages, newest first; at most 100',
    query: LIMIT,
    answers: { 200: Type.Array(MessageSchema) },
    handler: ({ api, params, query }) => api.messages.last(params.id, 'events', query.limit),
  }),
  route({
    method: 'POST',
    path: '/messages/query',
    scope: 'read',
    summary: 'Stored messages of several resources, newest first',
    body: unread(MessageQuery.schema),
    answers: {
      200: Type.Object({
        query: Type.Unknown(),
        results: Type.Array(Type.Object({ resource: Text, messages: Type.Array(MessageSchema) })),
      }),
    },
    handler: ({ api, request }) => api.messages.query(request.body),
  }),
  route({
    ...read,
    path: '/resources/:id/series',
    summary:
      'With `metadata`: the series of a resource, each with its newest sample. Without: its messages (deprecated)',
    query: { metadata: Type.Optional(Text), ...MESSAGES },
    answers: { 200: Type.Array(Type.Unknown()) },
    handler: async ({ api, params: { id }, query: { metadata, ...range } }) => {
      if (metadata === undefined) {
        const { results } = await api.messages.query({ resources: [id], ...range })
        return results[0]?.messages ?? []
      }
      const series = await api.series.list(id)
      return series.map(({ metric, time, value }) => ({ name: metric, latest: { timestamp: time, value } }))
    },
  }),
  route({
    ...read,
    path: '/resources/:id/series/:metric',
    summary: 'A series, raw or in groups; at most 2,000 points, with a link to the next ones',
    query: SERIES,
    answers: { 200: SeriesSchema },
    handler: async ({ api, params: { id, metric }, query: { aggregates = [], ...query }, request, reply }) => {
      const names = aggregates.join(',')
      return sendPage(
        request,
        reply,
        await api.series.get(id, metric, { ...query, ...(names !== '' && { aggregates: names }) }),
      )
    },
  }),
  route({
    ...read,
    path: '/resources/:id/series/:metric/raw',
    summary: 'A raw series, in pages of 2,000 or `limit` points',
    query: PAGE,
    produces: ['application/json', HAL_MEDIA_TYPE],
    answers: { 200: HalSchema },
    handler: async ({ api, params: { id, metric }, query, request, reply }) => {
      const page = await api.series.raw(id, metric, query)
      void reply.header('vary', 'accept')
      return sendPage(request, reply, page, request.headers.accept?.includes(HAL_MEDIA_TYPE))
    },
  }),
  route({
    ...read,
    path: '/resources/:id/series/:metric/latest',
    summary: 'The newest value of a series: `{ <metric>: [value], timestamp }`',
    query: UNTIL,
    answers: { 200: Type.Object({ timestamp: Type.Number() }, { additionalProperties: true }) },
    handler: async ({ api, params: { id, metric }, query }) => {
      const [newest] = (await api.series.latest(id, metric, query)).series
      if (newest === undefined) throw new AppError('NOT_FOUND', `${id} has no series ${metric}`)
      const [timestamp, value] = newest
      return Object.fromEntries([
        [metric, [value]],
        ['timestamp', timestamp],
      ])
    },
  }),
  route({
    ...read,
    path: '/resources/:id/series/:metric/last',
    summary: 'The newest samples of a series, newest first; a single one unless `limit` is set',
    query: { ...UNTIL, ...LIMIT },
    answers: { 200: SeriesSchema },
    handler: ({ api, params, query }) => api.series.latest(params.id, params.metric, query),
  }),
  route({
    method: 'POST',
    path: '/series/query',
    scope: 'read',
    summary: 'One or more series over several resources',
    body: unread(Type.Union([SeriesQueryBody.schema, SeriesQueryList.schema])),
    answers: { 200: Type.Union([QueriedSchema, Type.Array(QueriedSchema)]) },
    handler: ({ api, request }) => api.series.query(request.body),
  }),
  route({
    method: 'DELETE',
    path: '/resources/:id/messages',
    scope: 'operate',
    summary: 'Delete the stored messages of a resource, but not its series',
    answers: removed,
    handler: async ({ api, params: { id } }) => {
      await api.series.remove({ resource: id, only: 'messages' })
      return { message: `Deleted messages for ${id}` }
    },
  }),
  route({
    method: 'DELETE',
    path: '/resources/:id',
    scope: 'operate',
    summary: 'Delete messages and series of a resource, all or of a range; with `metrics` only these series',
    query: { ...FROM_UNTIL, onlytimeseries: Type.Optional(Type.Boolean()), metrics: Type.Optional(Text) },
    answers: removed,
    handler: async ({ api, params: { id }, query: { onlytimeseries = false, metrics: names = '', ...range } }) => {
      const metrics = names === '' ? undefined : names.split(',').map((name) => name.trim())
      // a message may contain other metrics too, so only samples are removed
      const only = onlytimeseries || metrics !== undefined ? ({ only: 'samples' } as const) : {}
      await api.series.remove({ resource: id, ...range, ...(metrics && { metrics }), ...only })
      const within = Object.entries(range).map(([name, time]) => ` ${name} ${time}`)
      const what = removalText(onlytimeseries, metrics, within.length > 0)
      return { message: `Deleted ${what} for ${id}${within.join('')}` }
    },
  }),
]

const produces = ['application/json', EVENTS_MEDIA_TYPE, NDJSON_MEDIA_TYPE]
// without HEAD, because a HEAD request would leave a stream open
const stream = { ...read, query: RESUMING }

function streamRoutes(streaming: Streaming, sockets: Sockets) {
  const channel = (name: Channel, wsHandler: SocketHandler) =>
    route({
      ...stream,
      path: `/resources/:id/${name}`,
      summary: `The newest ${name}, or, selected with Accept, a stream of new ${name}; for WebSockets see ${name}/subscribe and ${name}/publish`,
      produces,
      answers: { 200: Type.Array(MessageSchema) },
      // a socket on the path of events posts them
      server: {
        exposeHeadRoute: false,
        wsHandler,
        config: { isSocket: true, ...(name === 'events' ? { socketScope: 'device' } : { orDevice: true }) },
      },
      handler: ({ api, params: { id }, query, request, reply }) => {
        const form = acceptedForm(request.headers.accept)
        if (form === undefined) return notAcceptable(request, reply)
        if (form === 'json') return api.messages.last(id, name)
        const subscribe = (options: Parameters<BrokerApi['streams']['firehose']>[0]) =>
          api.streams.subscribe(id, name, options)
        return sendStream({ query, request, reply, form, streaming, subscribe })
      },
    })
  const socket = (
    path: `/${string}`,
    summary: string,
    wsHandler: SocketHandler,
    { config = {}, scope = 'read', query = {} }: { config?: object; scope?: Scope; query?: object },
  ) =>
    route({
      method: 'GET',
      scope,
      path,
      summary: `WebSocket: ${summary}`,
      query: query as typeof RESUMING,
      answers: { 101: Type.Null({ description: 'the connection is now a WebSocket' }) },
      server: { exposeHeadRoute: false, wsHandler, config: { isSocket: true, ...config } },
      handler: ({ reply }) =>
        reply.code(426).header('upgrade', 'websocket').send({ error: 'This path is a WebSocket: request an upgrade' }),
    })
  const subscribing = { query: RESUMING }
  return [
    channel('events', sockets.publish('events')),
    channel('commands', sockets.subscribe('commands')),
    route({
      ...stream,
      path: '/messages',
      summary:
        'All messages as they arrive, one line of JSON each; a slow reader loses messages and receives their number',
      produces: produces.slice(1),
      server: { exposeHeadRoute: false },
      handler: ({ api, query, request, reply }) => {
        const accepted = acceptedForm(request.headers.accept)
        if (accepted === undefined) return notAcceptable(request, reply)
        const form = accepted === 'event' ? accepted : 'line'
        const subscribe: BrokerApi['streams']['firehose'] = (options) => api.streams.firehose(options)
        return sendStream({ query, request, reply, form, streaming, subscribe })
      },
    }),
    socket('/resources/:id/events/subscribe', 'messages as they arrive', sockets.subscribe('events'), subscribing),
    socket('/resources/:id/events/publish', 'post messages', sockets.publish('events'), { scope: 'device' }),
    socket('/resources/:id/commands/subscribe', 'commands as they arrive', sockets.subscribe('commands'), {
      ...subscribing,
      config: { orDevice: true },
    }),
    socket('/resources/:id/commands/publish', 'send commands', sockets.publish('commands'), { scope: 'operate' }),
    socket(
      '/resources/:id/socket',
      'messages of one resource as they arrive',
      sockets.subscribe('events'),
      subscribing,
    ),
    socket('/socket', 'post messages of many resources, each with its `resource`', sockets.publish('events'), {
      scope: 'device',
    }),
  ]
}

function notSocket(url: string): AppError {
  const [path] = url.split('?')
  return new AppError('NOT_FOUND', `${path} is not a WebSocket; open /resources/{id}/events/subscribe or /socket`)
}

function keyOf({ headers }: FastifyRequest): Pick<PostOptions, 'idempotencyKey'> {
  const header = headers['idempotency-key']
  const idempotencyKey = Array.isArray(header) ? header[0] : header
  return idempotencyKey === undefined ? {} : { idempotencyKey }
}

function sent(reply: FastifyReply, posted: Posted): FastifyReply | Posted {
  return posted instanceof PublishedMessage ? reply.type('application/json; charset=utf-8').send(posted.json) : posted
}

function removalText(isSeriesOnly: boolean, metrics: readonly string[] | undefined, isRange: boolean): string {
  if (metrics !== undefined) return `${isRange ? 'samples' : 'series'} of ${metrics.join(', ')}`
  if (isRange) return isSeriesOnly ? 'samples of all metrics' : 'messages and samples of all metrics'
  return isSeriesOnly ? 'series and all metrics' : 'messages, series and all metrics'
}

function sendPage(request: FastifyRequest, reply: FastifyReply, page: SeriesPage, isHal = false): FastifyReply {
  const { next, ...answer } = page
  const [path = ''] = request.url.slice(request.server.prefix.length).split('?', 1)
  const texts = Object.entries(next ?? {}).map(([name, value]): [string, string] => [name, String(value)])
  const href = linkTo(request, `${path}?${new URLSearchParams(texts).toString()}`)
  if (next !== undefined) void reply.header('link', `<${href}>; rel="next"`)
  if (!isHal) return reply.send(next === undefined ? answer : { ...answer, next: href })
  const _links = next === undefined ? {} : { next: { href, name: 'Next series' } }
  return reply.type(`${HAL_MEDIA_TYPE}; charset=utf-8`).send(JSON.stringify({ _links, ...answer }))
}
