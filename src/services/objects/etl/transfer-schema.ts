/** Schemas of requests and responses for imports and exports. */
import { type TObject, Type } from 'typebox'
import { type Json, MAX_ID_BYTES } from '#kernel'
import { checked, closed, type Decoded, id, instant, type Problem, refined, text } from '#services/shared/contract'
import { optionalText, Links, orNull, PAGE_SIZE, Text } from '../object-schema.ts'

const TRANSFER_STATES = ['waiting', 'running', 'completed', 'failed'] as const
export type TransferState = (typeof TRANSFER_STATES)[number]

export const MAX_METRICS = 500
/** path limit that leaves room for the suffix of reports */
const MAX_OBJECT_BYTES = 1_000
const MAX_NAME = 10_000

const some = (description: string) => Type.Optional(Type.String({ description }))
const count = (description: string) => Type.Integer({ description })
const Texts = Type.Record(Text, Text)

const TRANSFER = {
  id: Text,
  state: Type.Enum(TRANSFER_STATES),
  object: Type.String({ description: 'path of the file' }),
  created: Text,
  started: some('time of its start'),
  ended: some('time of its end'),
  error: some('reason of the failure'),
}
const IMPORT = {
  ...TRANSFER,
  etag: Text,
  size: count('bytes of the file'),
  read: count('number of read bytes'),
  messages: count('number of imported lines'),
  points: count('number of imported values'),
  refused: count('number of rejected lines'),
  lines: Type.Optional(
    Type.Array(Type.Object({ line: Type.Integer(), message: Text, suggestion: some('a correction') }), {
      description: 'the first 1,000 rejected lines',
    }),
  ),
  reading: Type.Optional({
    ...Texts,
    description: 'settings for reading: unit, types, encoding, delimiter, decimal, map, zone, resource',
  }),
  types: Type.Optional({ ...Texts, description: 'type of each column: number, text, boolean or json' }),
  notes: Type.Optional(
    Type.Array(Type.Object({ line: Type.Integer(), message: Text }), {
      description: 'text columns in which some cells are numbers',
    }),
  ),
}
const EXPORT = {
  ...TRANSFER,
  request: Type.Unsafe<Json>(Type.Unknown({ description: 'the requested export' })),
  size: Type.Optional(count('bytes of the file, once it exists')),
}
const ImportInfoSchema = Type.Object(IMPORT)
const ExportInfoSchema = Type.Object(EXPORT)
export interface ImportInfo extends Decoded<typeof ImportInfoSchema> {}
export interface ExportInfo extends Decoded<typeof ExportInfoSchema> {
  readonly request: Json
}
export const ImportSchema = Type.Object({ _links: Links, ...IMPORT }, { title: 'SeriesImport' })
export const ExportSchema = Type.Object({ _links: Links, ...EXPORT }, { title: 'SeriesExport' })
export const ImportsSchema = Type.Object(
  { _links: Links, imports: Type.Array(ImportSchema) },
  { title: 'SeriesImports' },
)
export const ExportsSchema = Type.Object(
  { _links: Links, exports: Type.Array(ExportSchema) },
  { title: 'SeriesExports' },
)

export const TRANSFER_QUERY = {
  object: optionalText('path of the file'),
  state: Type.Optional(Type.Enum(TRANSFER_STATES, { description: 'only entries in this state' })),
  ...PAGE_SIZE,
}
export interface TransferQuery extends Decoded<TObject<typeof TRANSFER_QUERY>> {}

const SOURCES = ['query', 'stored', 'resource'] as const
const ExportRequestSchema = refined(
  closed(
    {
      query: Type.Optional(
        Type.Unsafe<Json>(Type.Object({}, { additionalProperties: true, description: 'a time series query' })),
      ),
      stored: Type.Optional(text(MAX_NAME, { minLength: 1, description: 'the name of a stored query' })),
      resource: Type.Optional(id),
      metrics: Type.Optional(
        Type.Array(text(MAX_ID_BYTES, { minLength: 1 }), {
          minItems: 1,
          maxItems: MAX_METRICS,
          description: 'metrics of the resource; default: all',
        }),
      ),
      ...orNull({ from: Type.Optional(instant), until: Type.Optional(instant) }),
      object: Type.Optional(
        refined(
          text(MAX_OBJECT_BYTES, {
            minLength: 1,
            description: 'path of the file in etl-export; default: derived from the exported data and the time',
          }),
          wrongObject,
        ),
      ),
      csv: Type.Optional(
        Type.Enum(['safe'], { description: 'texts that begin like formulas are prefixed with an apostrophe' }),
      ),
    },
    { title: 'SeriesExportRequest', minProperties: 1 },
  ),
  (body) => {
    const named = SOURCES.filter((one) => Object.hasOwn(body as object, one))
    const suggestion = 'send query (a time series query), stored (the name of a stored query) or resource (its history)'
    return named.length === 1 ? [] : [{ message: `contains ${named.length} things to export`, suggestion }]
  },
)
export const ExportRequest = checked(ExportRequestSchema, { subject: 'the export' })
export type ExportRequest = Decoded<typeof ExportRequestSchema>

function wrongObject(path: unknown): readonly Problem[] {
  if (typeof path !== 'string') return []
  if (Buffer.byteLength(path) > MAX_OBJECT_BYTES)
    return [{ message: `has more than ${MAX_OBJECT_BYTES} bytes`, suggestion: 'shorten it' }]
  if (/(?:^|\/)\./.test(path))
    return [{ message: 'has a part that begins with a dot, which hides it', suggestion: 'rename it' }]
  if (path !== '' && !/^\/|\/$/.test(path)) return []
  return [{ message: 'must be a file path', suggestion: 'such as reports/boiler-1.csv' }]
}
