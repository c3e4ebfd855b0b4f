/** Schema of queries, with limits, published at `GET /schema/query.json`. */
import { Type } from 'typebox'
import { type Json, MAX_ID_BYTES } from '#kernel'
import { CHECKED, checked, closed, type Decoded, seriesName, text } from '#services/shared/contract'
import { INTERPOLATION_METHODS } from '../interpolation/methods.ts'
import { render } from '../render/render-modes.ts'
import { duration, freq, time, zone } from '../time-line/time-fields.ts'
import { AGGREGATION_PATTERN, PLAIN_AGGREGATIONS } from './aggregations.ts'

export const MAX_SERIES = 1_000

const label = text(MAX_ID_BYTES, { minLength: 1 })

const AGGREGATIONS = `one of ${PLAIN_AGGREGATIONS.join(', ')}, or percentile(f) with f from 0 to 1`
const aggregation = Type.String({ pattern: AGGREGATION_PATTERN, description: AGGREGATIONS })

const method = Type.Enum(INTERPOLATION_METHODS)
const interpolation = Type.Union(
  [
    method,
    closed({
      method,
      value: Type.Optional(Type.Number({ description: 'value that `fixed` fills in' })),
      order: Type.Optional(Type.Integer({ minimum: 1, maximum: 5, description: 'of polynomial and spline' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, description: 'maximum of consecutive values to fill in' })),
    }),
  ],
  { description: 'the name of a method, or {"method": "linear"}' },
)

const selection = closed({
  type: Type.Optional(label),
  tag: Type.Optional(label),
  query: Type.Optional(text(2_000, { minLength: 1, description: 'in the query language of resource lists' })),
  groupBy: Type.Optional(
    Type.Union([label, Type.Array(label, { minItems: 1, maxItems: 5 })], {
      description: 'the name of an attribute of the resources, or a list of up to 5',
    }),
  ),
})

const SERIES = {
  resource: Type.Optional(seriesName('resource')),
  resources: Type.Optional(
    Type.Union([Type.Array(seriesName('resource'), { minItems: 1, maxItems: MAX_SERIES }), selection], {
      description: 'a list of ids, or {"type": ..}, {"tag": ..} or {"query": ..}, with groupBy or without',
      ...CHECKED,
    }),
  ),
  metric: Type.Optional(seriesName('metric')),
  aggregation: Type.Optional(
    Type.Union([aggregation, Type.Array(aggregation, { minItems: 1, maxItems: 20 })], {
      description: `${AGGREGATIONS}; or a list of them`,
    }),
  ),
  interpolation: Type.Optional(interpolation),
  seriesId: Type.Optional(
    Type.Unsafe<Json>(Type.Unknown({ description: 'sent by clients of the platform; copied to the result' })),
  ),
}

export const QuerySchema = closed(
  {
    ...SERIES,
    from: Type.Optional(time),
    until: Type.Optional(time),
    freq: Type.Optional(freq),
    periods: Type.Optional(Type.Integer({ minimum: 1 })),
    window: Type.Optional(duration),
    align: Type.Optional(
      closed({
        at: Type.Optional(Type.Enum(['grid', 'boundary', 'from', 'until'])),
        shift: Type.Optional(Type.Enum(['backward', 'forward', 'wrap'])),
        timezone: Type.Optional(zone),
      }),
    ),
    data: Type.Optional(
      Type.Array(closed({ name: Type.Optional(label), ...SERIES }), {
        minItems: 1,
        maxItems: MAX_SERIES,
        description: 'the series; missing fields default to those of the query',
      }),
    ),
    render: Type.Optional(render),
  },
  { title: 'Time series query' },
)
export const QueryBody = checked(QuerySchema, { subject: 'the query', type: 'QUERY' })
export type Query = Decoded<typeof QuerySchema>
export type SeriesOfQuery = NonNullable<Query['data']>[number]

export const QUERY_SCHEMA_DOCUMENT = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Queries of time series',
  definitions: { query: QuerySchema },
  $ref: '#/definitions/query',
} as const
