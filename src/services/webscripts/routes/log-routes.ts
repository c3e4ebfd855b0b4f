/** Logs and figures of webscripts. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import {
  asking,
  describing,
  EVENTS_MEDIA_TYPE,
  QueryReader,
  sendEvents,
  type ServerEvent,
  untilClosed,
} from '#services/shared'
import { LINE_KINDS, LOG_LEVELS, type ScriptLine, type ScriptLogQuery, type WebscriptsApi } from '../contract.ts'
import { MAX_LINES } from '../script-log.ts'
import { ErrorSchema } from './error-schema.ts'
import { BASE, type WebscriptsRouting } from './routing.ts'

const LineSchema = Type.Object(
  {
    number: Type.Integer(),
    timestamp: Type.String({ description: 'ISO 8601' }),
    level: Type.Enum([...LOG_LEVELS]),
    kind: Type.Enum([...LINE_KINDS]),
    message: Type.String(),
    version: Type.String(),
    requestId: Type.Optional(Type.String()),
  },
  { title: 'WebscriptLine' },
)
const PageSchema = Type.Object(
  {
    lines: Type.Array(LineSchema, { description: 'the newest last' }),
    before: Type.Optional(Type.Integer({ description: 'for older lines' })),
  },
  { title: 'WebscriptLog' },
)
const MetricsSchema = Type.Object(
  {
    calls: Type.Integer(),
    errors: Type.Integer({ description: 'answers from 500 on' }),
    coldStarts: Type.Integer({ description: 'calls that found no process' }),
    open: Type.Integer(),
    p50: Type.Number({ description: 'ms until the answer began' }),
    p99: Type.Number(),
    bytesIn: Type.Integer(),
    bytesOut: Type.Integer(),
  },
  { title: 'WebscriptMetrics' },
)
const LOG_QUERY = {
  level: Type.Optional(Type.Enum([...LOG_LEVELS], { description: 'this level and those above' })),
  kind: Type.Optional(Type.Enum([...LINE_KINDS], { description: 'only these lines' })),
  version: Type.Optional(Type.String({ description: 'lines of one version; default all' })),
  search: Type.Optional(Type.String({ description: 'a part of the message; case does not count' })),
  after: Type.Optional(Type.Integer({ minimum: 0, description: 'number of a line' })),
}

const handle = asking<WebscriptsApi, QueryReader>((query) => new QueryReader(query))
const described = describing('webscripts', ErrorSchema)

export function logRoutes(app: FastifyInstance, { service }: WebscriptsRouting): void {
  app.get(
    `${BASE}/webscripts/logs/:name`,
    described({
      summary: 'The last lines of a webscript on this host: requests, responses and its console',
      params: ['name'],
      query: {
        ...LOG_QUERY,
        before: Type.Optional(Type.Integer({ minimum: 0, description: 'as the page before tells it' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LINES, description: 'lines; default 100' })),
      },
      answers: { 200: PageSchema },
    }),
    handle(service, ({ api, query, param, request }) => {
      const asked = { ...queryOf(query, request.headers['x-webscript-version']), ...pageOf(query) }
      query.done()
      return api.log(param('name'), asked)
    }),
  )
  app.get(
    `${BASE}/webscripts/logs/:name/events`,
    described({
      summary: 'Lines of a webscript as they come',
      params: ['name'],
      query: LOG_QUERY,
      produces: [EVENTS_MEDIA_TYPE],
    }),
    handle(service, ({ api, query, param, reply, request }) => {
      const last = request.headers['last-event-id']
      const asked = queryOf(query, request.headers['x-webscript-version'])
      query.done()
      const after = typeof last === 'string' && /^\d{1,15}$/.test(last) ? Number(last) : asked.after
      return sendEvents(reply, eventsOf(api.tail(param('name'), { ...asked, after, signal: untilClosed(reply) })))
    }),
  )
  app.get(
    `${BASE}/webscripts/metrics/:name`,
    described({
      summary: 'Figures of a webscript on this host, since it started',
      params: ['name'],
      answers: { 200: MetricsSchema },
    }),
    handle(service, ({ api, param }) => api.metrics(param('name'))),
  )
}

async function* eventsOf(lines: AsyncIterable<ScriptLine>): AsyncGenerator<ServerEvent> {
  for await (const line of lines) yield { id: String(line.number), event: 'line', data: line }
}

function queryOf(query: QueryReader, version: string | readonly string[] | undefined): ScriptLogQuery {
  return {
    level: query.oneOf('level', LOG_LEVELS),
    kind: query.oneOf('kind', LINE_KINDS),
    version: query.text('version') ?? (typeof version === 'string' ? version : undefined),
    search: query.text('search'),
    after: query.integer('after'),
  }
}

function pageOf(query: QueryReader): Pick<ScriptLogQuery, 'before' | 'limit'> {
  return { before: query.integer('before'), limit: query.integer('limit', { most: MAX_LINES }) }
}
