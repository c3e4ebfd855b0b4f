/** Routes that carry queries out, and the schema that they are held against. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { headerOfList, NDJSON_MEDIA_TYPE, untilClosed } from '#services/shared'
import type { OpenedResult, Overrides, QueriesService, QuerySource, ResultFormat } from '../contract.ts'
import { ARROW_MEDIA_TYPE } from '../execution/run.ts'
import { OVERRIDE_NAMES } from '../query/overrides.ts'
import { QUERY_SCHEMA_DOCUMENT, QuerySchema } from '../query/query-schema.ts'
import { ErrorSchema, described, handle, MessageSchema, type RequestContext } from './route-parts.ts'

const CSV_MEDIA_TYPE = 'text/csv'
const FORMATS: readonly (readonly [type: string, format: ResultFormat])[] = [
  [CSV_MEDIA_TYPE, 'csv'],
  [NDJSON_MEDIA_TYPE, 'ndjson'],
  [ARROW_MEDIA_TYPE, 'arrow'],
]

const ResultSchema = Type.Object(
  {
    messages: Type.Array(MessageSchema),
    query: Type.Object({}, { additionalProperties: true, description: 'as it was executed' }),
    data: Type.Array(Type.Unknown({ description: 'one data set, in the layout of the render mode' })),
    api_version: Type.Optional(Type.String({ description: 'is passed over' })),
    explain: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { title: 'Result of a query' },
)
const PARAMETERS: Record<string, TSchema> = {
  ...Object.fromEntries(
    OVERRIDE_NAMES.map((name) => [
      name,
      Type.Optional(Type.String({ description: `takes the place of ${name} in the query` })),
    ]),
  ),
  csv: Type.Optional(
    Type.Enum(['safe'], { description: 'of CSV: texts that begin as formulas stand behind an apostrophe' }),
  ),
  explain: Type.Optional(Type.Boolean({ description: 'true: tells what was read, and where the time went' })),
}
const shared = {
  query: PARAMETERS,
  produces: ['application/json', CSV_MEDIA_TYPE, NDJSON_MEDIA_TYPE, ARROW_MEDIA_TYPE],
  answers: { 200: ResultSchema, 502: ErrorSchema },
} as const

export function executionRoutes(app: FastifyInstance, service: QueriesService): void {
  app.post(
    '/data/query',
    described({
      summary: 'Execute the query of the body; parameters override its members',
      body: QuerySchema,
      ...shared,
    }),
    handle(service, (context) => execute(context, { query: context.body })),
  )
  app.get(
    '/data/query/:name',
    described({ summary: 'Execute a stored query; parameters override its members', params: ['name'], ...shared }),
    handle(service, (context) => execute(context, { stored: context.param('name') })),
  )
  app.get(
    '/schema/query.json',
    described({
      summary: 'The JSON Schema of queries',
      answers: { 200: Type.Object({}, { additionalProperties: true, title: 'Schema of queries' }) },
    }),
    handle(service, () => QUERY_SCHEMA_DOCUMENT),
  )
}

async function execute({ api, query, request, reply }: RequestContext, source: QuerySource): Promise<FastifyReply> {
  const explain = query.flag('explain') === true
  const csv = query.oneOf('csv', ['safe'])
  const overrides = overridesOf(request.query)
  query.done()
  const { accept } = request.headers
  const format = FORMATS.find(([type]) => accept?.includes(type))?.[1]
  const opened = await api.open(source, {
    overrides,
    explain,
    signal: untilClosed(reply),
    action: `${request.method} ${request.url.split('?', 1)[0] ?? ''}`,
    ...(format && { format }),
    ...(csv && { csv }),
  })
  void reply.header('vary', 'accept').type(opened.type)
  const messages = headerOfList(opened.messages)
  if (messages !== undefined) void reply.header('query-messages', messages)
  return send(reply, opened)
}

function overridesOf(query: unknown): Overrides {
  const { explain: _explain, csv: _csv, ...others } = query as Overrides
  return others
}

/** What is one part goes out with its length. */
async function send(reply: FastifyReply, { parts }: OpenedResult): Promise<FastifyReply> {
  const iterator = parts[Symbol.asyncIterator]()
  const first = await iterator.next()
  const second = first.done === true ? first : await iterator.next()
  if (first.done === true) return reply.send('')
  if (second.done === true) return reply.send(first.value)
  return reply.send(
    Readable.from(continued([first.value, second.value], iterator), { objectMode: false, highWaterMark: 65_536 }),
  )
}

async function* continued<T>(begun: readonly T[], rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    yield* begun
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
