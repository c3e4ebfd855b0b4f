/** Time series over HTTP, messages of several resources, and what forgets both. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '#kernel'
import { Flag, HAL_MEDIA_TYPE, type QueryReader, Text, Texts, Whole } from '#services/shared'
import type { BrokerMessage, BrokerService, SeriesPage, SeriesQuery } from '../contract.ts'
import { described, handle, MessageSchema } from '../routes/route-parts.ts'

const RangeParameters = {
  from: Type.Optional(Text),
  until: Type.Optional(Text),
  limit: Type.Optional(Whole),
  order: Type.Optional(Text),
}
const SeriesParameters = {
  ...RangeParameters,
  grouping: Type.Optional(Text),
  zone: Type.Optional(Type.String({ description: 'whose days or weeks the groups are, such as Europe/Brussels' })),
  aggregate: Type.Optional(Text),
  aggregates: Type.Optional(Texts),
}
const rows = {
  query: Type.Unknown(),
  series: Type.Array(Type.Array(Type.Unknown())),
  truncated: Type.Optional(Type.Boolean({ description: 'more remains than one answer has: see next' })),
}
const SeriesSchema = Type.Object({ ...rows, next: Type.Optional(Type.String({ description: 'where to go on' })) })
const QueriedSchema = Type.Object({
  ...rows,
  next: Type.Optional(Type.Unknown({ description: 'the body to go on with' })),
})
const HalSchema = Type.Object(
  { ...rows, next: Type.Optional(Text), _links: Type.Optional(Type.Unknown()) },
  { additionalProperties: true },
)
const QuerySchema = Type.Object(
  {
    metric: Text,
    resources: Type.Array(Text),
    aggregates: Type.Optional(Type.Array(Text)),
    grouping: Type.Optional(Text),
    zone: Type.Optional(Text),
    from: Type.Optional(Type.Union([Type.Number(), Text])),
    until: Type.Optional(Type.Union([Type.Number(), Text])),
    window: Type.Optional(Text),
    filter: Type.Optional(Type.Unknown()),
    order: Type.Optional(Text),
    limit: Type.Optional(Whole),
  },
  { additionalProperties: false },
)
const one = { params: ['id', 'metric'], answers: { 200: SeriesSchema } } as const

export function seriesRoutes(app: FastifyInstance, service: BrokerService): void {
  readRoutes(app, service)
  queryRoutes(app, service)
  removeRoutes(app, service)
}

function readRoutes(app: FastifyInstance, service: BrokerService): void {
  app.get(
    '/resources/:id/series',
    described({
      summary:
        'With `metadata`: the series of a resource, each with its newest sample. Without: its messages (deprecated)',
      params: ['id'],
      query: {
        metadata: Type.Optional(Text),
        from: Type.Optional(Text),
        until: Type.Optional(Text),
        window: Type.Optional(Text),
        limit: Type.Optional(Whole),
      },
      answers: { 200: Type.Array(Type.Unknown()) },
    }),
    handle(service, async ({ api, param, query }) => {
      if (query.texts('metadata').length === 0) return messagesOf(api.messages, param('id'), query)
      const series = await api.series.list(param('id'))
      return series.map(({ metric, time, value }) => ({ name: metric, latest: { timestamp: time, value } }))
    }),
  )
  app.get(
    '/resources/:id/series/:metric',
    described({
      summary: 'A series, in groups or as it is; at most 2,000 points, and then a link to the next',
      ...one,
      query: SeriesParameters,
    }),
    handle(service, async ({ api, param, query, request, reply }) => {
      return sendPage(request, reply, await api.series.get(param('id'), param('metric'), readSeries(query)))
    }),
  )
  app.get(
    '/resources/:id/series/:metric/raw',
    described({
      summary: 'A series as it is, in pages of 2,000 or `limit`',
      params: one.params,
      query: RangeParameters,
      answers: { 200: HalSchema },
      produces: ['application/json', HAL_MEDIA_TYPE],
    }),
    handle(service, async ({ api, param, query, request, reply }) => {
      return sendRaw(request, reply, await api.series.raw(param('id'), param('metric'), readSeries(query)))
    }),
  )
  app.get(
    '/resources/:id/series/:metric/latest',
    described({
      summary: 'The newest value of a series: `{ <metric>: [value], timestamp }`',
      params: one.params,
      query: { until: Type.Optional(Text) },
      answers: { 200: Type.Object({ timestamp: Type.Number() }, { additionalProperties: true }) },
    }),
    handle(service, async ({ api, param, query }) => {
      const [id, metric] = [param('id'), param('metric')]
      const [newest] = (await api.series.latest(id, metric, readTexts(query, ['until']))).series
      if (newest === undefined) throw new AppError('NOT_FOUND', `${id} has no series ${metric}`)
      const [timestamp, value] = newest
      return Object.fromEntries([
        [metric, [value]],
        ['timestamp', timestamp],
      ])
    }),
  )
  app.get(
    '/resources/:id/series/:metric/last',
    described({
      summary: 'The newest samples of a series, newest first; one unless `limit` says more',
      ...one,
      query: { until: Type.Optional(Text), limit: Type.Optional(Whole) },
    }),
    handle(service, ({ api, param, query }) => {
      return api.series.latest(param('id'), param('metric'), readTexts(query, ['until', 'limit']))
    }),
  )
}

function queryRoutes(app: FastifyInstance, service: BrokerService): void {
  app.post(
    '/series/query',
    described({
      summary: 'A series over several resources, or several such',
      body: Type.Union([QuerySchema, Type.Array(QuerySchema)]),
      answers: { 200: Type.Union([QueriedSchema, Type.Array(QueriedSchema)]) },
    }),
    handle(service, ({ api, body }) => api.series.query(body)),
  )
  app.post(
    '/messages/query',
    described({
      summary: 'Stored messages of several resources, newest first',
      body: Type.Object({
        resources: Type.Array(Text),
        limit: Type.Optional(Whole),
        from: Type.Optional(Type.Union([Type.Number(), Text])),
        until: Type.Optional(Type.Union([Type.Number(), Text])),
        window: Type.Optional(Text),
      }),
      answers: {
        200: Type.Object({
          query: Type.Unknown(),
          results: Type.Array(Type.Object({ resource: Text, messages: Type.Array(MessageSchema) })),
        }),
      },
    }),
    handle(service, ({ api, body }) => api.messages.query(body)),
  )
}

function removeRoutes(app: FastifyInstance, service: BrokerService): void {
  const answers = { 200: Type.Object({ message: Text }) }
  app.delete(
    '/resources/:id/messages',
    described({ summary: 'Forget the stored messages of a resource; its series stay', params: ['id'], answers }),
    handle(service, async ({ api, param }) => {
      await api.series.remove({ resource: param('id'), only: 'messages' })
      return { message: `Deleted messages for ${param('id')}` }
    }),
  )
  app.delete(
    '/resources/:id',
    described({
      summary: 'Forget messages and series of a resource, all or those of a range; with `metrics` only these series',
      params: ['id'],
      query: {
        from: Type.Optional(Text),
        until: Type.Optional(Text),
        onlytimeseries: Type.Optional(Flag),
        metrics: Type.Optional(Text),
      },
      answers,
    }),
    handle(service, async ({ api, param, query }) => {
      const range = readTexts(query, ['from', 'until'])
      const isSeriesOnly = query.flag('onlytimeseries') ?? false
      const metrics = query
        .text('metrics')
        ?.split(',')
        .map((metric) => metric.trim())
      query.done()
      const resource = param('id')
      // a message holds more than the metrics that are named
      const only = isSeriesOnly || metrics !== undefined ? ({ only: 'samples' } as const) : {}
      await api.series.remove({ resource, ...range, ...(metrics && { metrics }), ...only })
      const within = Object.entries(range).map(([name, time]) => ` ${name} ${time}`)
      return {
        message: `Deleted ${removed(isSeriesOnly, metrics, within.length > 0)} for ${resource}${within.join('')}`,
      }
    }),
  )
}

function removed(isSeriesOnly: boolean, metrics: readonly string[] | undefined, isRange: boolean): string {
  if (metrics !== undefined) return `${isRange ? 'samples' : 'series'} of ${metrics.join(', ')}`
  if (isRange) return isSeriesOnly ? 'samples of all metrics' : 'messages and samples of all metrics'
  return isSeriesOnly ? 'series and all metrics' : 'messages, series and all metrics'
}

async function messagesOf(
  messages: ReturnType<BrokerService['as']>['messages'],
  resource: string,
  query: QueryReader,
): Promise<readonly BrokerMessage[]> {
  const limit = query.integer('limit', { least: 1 })
  query.done()
  const bounds = readTexts(query, ['from', 'until', 'window'])
  const { results } = await messages.query({ resources: [resource], ...(limit && { limit }), ...bounds })
  return results[0]?.messages ?? []
}

/** All but the range is checked by the service, so that every problem is told at once. */
function readSeries(query: QueryReader): SeriesQuery {
  const aggregates = query.texts('aggregates').join(',')
  return {
    ...readTexts(query, ['from', 'until', 'grouping', 'zone', 'aggregate', 'limit', 'order']),
    ...(aggregates !== '' && { aggregates }),
  }
}

function readTexts<const N extends string>(query: QueryReader, names: readonly N[]): { readonly [K in N]?: string } {
  const found = names.flatMap((name) => {
    const text = query.text(name)
    return text === undefined ? [] : [[name, text] as const]
  })
  return Object.fromEntries(found) as { readonly [K in N]?: string }
}

/** What did not fit is told in the body and as a link (RFC 8288). */
function sendPage(request: FastifyRequest, reply: FastifyReply, page: SeriesPage): FastifyReply {
  const { next: _query, ...answer } = page
  const href = nextHref(request, page)
  if (href === undefined) return reply.send(answer)
  return reply.header('link', `<${href}>; rel="next"`).send({ ...answer, next: href })
}

function sendRaw(request: FastifyRequest, reply: FastifyReply, page: SeriesPage): FastifyReply {
  void reply.header('vary', 'accept')
  if (request.headers.accept?.includes(HAL_MEDIA_TYPE) !== true) return sendPage(request, reply, page)
  const { next: _query, ...answer } = page
  const href = nextHref(request, page)
  const _links = href === undefined ? {} : { next: { href, name: 'Next series' } }
  if (href !== undefined) void reply.header('link', `<${href}>; rel="next"`)
  return reply.type(`${HAL_MEDIA_TYPE}; charset=utf-8`).send(JSON.stringify({ _links, ...answer }))
}

function nextHref({ url }: FastifyRequest, { next }: SeriesPage): string | undefined {
  const [path = ''] = url.split('?', 1)
  if (next === undefined) return undefined
  const texts = Object.entries(next).map(([name, value]) => [name, String(value)] as [string, string])
  return `${path}?${new URLSearchParams(texts).toString()}`
}
