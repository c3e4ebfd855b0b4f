/** Imports and exports over HTTP. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { asking, describing, QueryReader } from '#services/shared'
import { inOwnScope } from '../own-scope.ts'
import { ErrorSchema } from '../routes/schemas.ts'
import { BASE, bucketHref } from '../show.ts'
import {
  TRANSFER_STATES,
  type ExportInfo,
  type ImportInfo,
  type ImportQuery,
  type TransfersApi,
  type TransfersService,
} from './contract.ts'
import { EXPORT_BUCKET } from './export-jobs.ts'
import { IMPORT_BUCKET, REPORT_SUFFIX } from './import-jobs.ts'

const ask = asking<TransfersApi, QueryReader>((query) => new QueryReader(query))
const describedAs = describing('subscriptions', ErrorSchema)
const described = (operationId: string, description: Parameters<typeof describedAs>[0]) => {
  const options = describedAs(description)
  return { ...options, schema: { ...options.schema, operationId } }
}

const text = (description: string) => Type.Optional(Type.String({ description }))
const Links = Type.Record(Type.String(), Type.Object({ href: Type.String() }))
const TRANSFER = {
  _links: Links,
  id: Type.String(),
  state: Type.Enum([...TRANSFER_STATES]),
  object: Type.String({ description: 'path of the file' }),
  created: Type.String(),
  started: text('when it was begun'),
  ended: text('when it was over'),
  error: text('why it failed'),
}
const ImportSchema = Type.Object(
  {
    ...TRANSFER,
    etag: Type.String(),
    size: Type.Integer({ description: 'bytes of the file' }),
    read: Type.Integer({ description: 'how many of them were read' }),
    messages: Type.Integer({ description: 'lines that were taken' }),
    points: Type.Integer({ description: 'values that are in series' }),
    refused: Type.Integer({ description: 'lines that were refused' }),
    lines: Type.Optional(
      Type.Array(
        Type.Object({ line: Type.Integer(), message: Type.String(), suggestion: text('what would be right') }),
        { description: 'the first 1,000 of these' },
      ),
    ),
    reading: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'how it is to be read: unit, types, encoding' }),
    ),
    types: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'number, text, boolean or json of each column' }),
    ),
    notes: Type.Optional(
      Type.Array(Type.Object({ line: Type.Integer(), message: Type.String() }), {
        description: 'columns that are texts though some of their cells are numbers',
      }),
    ),
  },
  { title: 'SeriesImport' },
)
const ExportSchema = Type.Object(
  {
    ...TRANSFER,
    request: Type.Unknown({ description: 'what was asked for' }),
    size: Type.Optional(Type.Integer({ description: 'bytes of the file, when it is there' })),
  },
  { title: 'SeriesExport' },
)
const ExportRequestSchema = Type.Object(
  {
    query: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'a time series query' })),
    stored: text('the name of a stored query'),
    resource: text('whose history'),
    metrics: Type.Optional(Type.Array(Type.String(), { description: 'of it; all without' })),
    from: Type.Optional(Type.Union([Type.String(), Type.Integer()], { description: 'ISO 8601 or epoch ms' })),
    until: Type.Optional(Type.Union([Type.String(), Type.Integer()], { description: 'included' })),
    object: text('path of the file in etl-export; made of what is exported, and the time, without'),
    csv: Type.Optional(Type.Enum(['safe'], { description: 'texts that begin as formulas stand behind an apostrophe' })),
  },
  { title: 'SeriesExportRequest' },
)
const LIST_QUERY = {
  object: text('path of the file'),
  state: Type.Optional(Type.Enum([...TRANSFER_STATES], { description: 'those in this state' })),
  max_keys: Type.Optional(Type.Integer({ minimum: 1, description: 'default 200, at most 1,000' })),
}

export async function transferRoutes(app: FastifyInstance, service: TransfersService): Promise<void> {
  await inOwnScope(app, (own) => {
    importRoutes(own, service)
    exportRoutes(own, service)
  })
}

function importRoutes(app: FastifyInstance, service: TransfersService): void {
  app.get(
    `${BASE}/import`,
    described('getImports', {
      summary: 'Imports of files into series, newest first',
      query: LIST_QUERY,
      answers: { 200: Type.Object({ _links: Links, imports: Type.Array(ImportSchema) }, { title: 'SeriesImports' }) },
    }),
    ask(service, async ({ api, query, request }) => {
      const all = await api.imports(readQuery(query))
      const origin = originOf(request)
      return {
        _links: { self: { href: `${origin}${BASE}/import` } },
        imports: all.map((one) => shownImport(one, origin)),
      }
    }),
  )
  app.get(
    `${BASE}/import/:id`,
    described('getImport', { summary: 'How an import is getting on', params: ['id'], answers: { 200: ImportSchema } }),
    ask(service, async ({ api, id, request }) => shownImport(await api.import(id), originOf(request))),
  )
}

function exportRoutes(app: FastifyInstance, service: TransfersService): void {
  app.post(
    `${BASE}/export`,
    described('postExport', {
      summary: 'Write the answer of a query, or the history of a resource, as CSV into etl-export',
      body: ExportRequestSchema,
      answers: { 202: ExportSchema },
    }),
    ask(service, async ({ api, body, request, reply }) => {
      const info = await api.startExport(body)
      return reply.code(202).send(shownExport(info, originOf(request)))
    }),
  )
  app.get(
    `${BASE}/export`,
    described('getExports', {
      summary: 'Exports of series, newest first',
      query: LIST_QUERY,
      answers: { 200: Type.Object({ _links: Links, exports: Type.Array(ExportSchema) }, { title: 'SeriesExports' }) },
    }),
    ask(service, async ({ api, query, request }) => {
      const all = await api.exports(readQuery(query))
      const origin = originOf(request)
      return {
        _links: { self: { href: `${origin}${BASE}/export` } },
        exports: all.map((one) => shownExport(one, origin)),
      }
    }),
  )
  app.get(
    `${BASE}/export/:id`,
    described('getExport', { summary: 'How an export is getting on', params: ['id'], answers: { 200: ExportSchema } }),
    ask(service, async ({ api, id, request }) => shownExport(await api.export(id), originOf(request))),
  )
}

function readQuery(query: QueryReader): ImportQuery {
  const read = {
    object: query.text('object'),
    state: query.oneOf('state', TRANSFER_STATES),
    maxKeys: query.integer('max_keys', { least: 1 }),
  }
  query.done()
  return read
}

function shownImport(info: ImportInfo, origin: string): object {
  const report = { href: `${bucketHref(origin, IMPORT_BUCKET, info.object + REPORT_SUFFIX)}?sign=GET` }
  return {
    _links: {
      self: { href: `${origin}${BASE}/import/${encodeURIComponent(info.id)}` },
      ...(info.ended !== undefined && { report }),
    },
    ...info,
  }
}

function shownExport(info: ExportInfo, origin: string): object {
  const file = { href: `${bucketHref(origin, EXPORT_BUCKET, info.object)}?sign=GET` }
  return {
    _links: {
      self: { href: `${origin}${BASE}/export/${encodeURIComponent(info.id)}` },
      ...(info.state === 'completed' && { sign_get: file }),
    },
    ...info,
  }
}

/** As the client reached this host. */
function originOf({ protocol, host, server }: FastifyRequest): string {
  return `${protocol}://${host}${server.prefix}`
}
