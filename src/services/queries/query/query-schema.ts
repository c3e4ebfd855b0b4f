/**
 * The JSON Schema of a query. It is the one that `GET /schema/query.json` publishes and that queries are held against.
 * The title and description of a part are what an error says of it.
 */
import { Type, type TSchema } from 'typebox'
import { ALIGN_AT, ALIGN_SHIFT } from '../time-line/read-align.ts'
import { INTERPOLATION_METHODS } from '../interpolation/methods.ts'
import { AGGREGATION_PATTERN, PLAIN_AGGREGATIONS } from './aggregations.ts'
import { RENDER_MODES } from '../render/render-modes.ts'

/** series that one query may name, before resources are looked up */
export const MAX_SERIES = 1_000
const MAX_TEXT = 512

const open = { additionalProperties: true } as const
const Name = (title: string): TSchema =>
  Type.String({ minLength: 1, maxLength: MAX_TEXT, title, description: `a text of 1 to ${MAX_TEXT} characters` })
const DurationSchema = Type.String({ title: 'duration', description: 'ISO 8601 such as PT1H or P7D' })
const TimeSchema = Type.Union([Type.Number(), Type.String()], {
  title: 'time',
  description: 'epoch milliseconds, ISO 8601, or a duration before now such as -P1D',
})

const AGGREGATION_FORMS = `one of ${PLAIN_AGGREGATIONS.join(', ')}, or percentile(f) with f from 0 to 1`
const OneAggregationSchema = Type.String({
  pattern: AGGREGATION_PATTERN,
  title: 'aggregation',
  description: AGGREGATION_FORMS,
})
const AggregationSchema = Type.Union(
  [OneAggregationSchema, Type.Array(OneAggregationSchema, { minItems: 1, maxItems: 20 })],
  { title: 'aggregation', description: `${AGGREGATION_FORMS}; or a list of them` },
)

const MethodSchema = Type.Enum([...INTERPOLATION_METHODS], {
  title: 'interpolation method',
  description: `one of ${INTERPOLATION_METHODS.join(', ')}`,
})
const InterpolationSchema = Type.Union(
  [
    MethodSchema,
    Type.Object(
      {
        method: MethodSchema,
        value: Type.Optional(Type.Number({ title: 'number', description: 'what `fixed` fills in' })),
        order: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 5,
            title: 'order',
            description: 'a whole number from 1 to 5, for polynomial and spline',
          }),
        ),
        limit: Type.Optional(
          Type.Integer({
            minimum: 1,
            title: 'limit',
            description: 'a whole number of at least 1: consecutive values that are filled in at most',
          }),
        ),
      },
      { ...open, title: 'interpolation' },
    ),
  ],
  { title: 'interpolation', description: 'the name of a method, or {"method": "linear"}' },
)

const ResourceListSchema = Type.Array(Name('name of a resource'), { minItems: 1, maxItems: MAX_SERIES })
const SelectionSchema = Type.Object(
  {
    type: Type.Optional(Name('id of a resource type')),
    tag: Type.Optional(Name('tag')),
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        title: 'query',
        description: 'as the listing of resources has it',
      }),
    ),
    groupBy: Type.Optional(
      Type.Union([Name('attribute'), Type.Array(Name('attribute'), { minItems: 1, maxItems: 5 })], {
        title: 'groupBy',
        description: 'the name of an attribute of the resources, or a list of up to 5',
      }),
    ),
  },
  { additionalProperties: false, title: 'resources' },
)
const ResourcesSchema = Type.Union([ResourceListSchema, SelectionSchema], {
  title: 'resources',
  description: 'a list of ids, or {"type": ..}, {"tag": ..} or {"query": ..}, with groupBy or without',
})

const series = {
  resource: Type.Optional(Name('name of a resource')),
  resources: Type.Optional(ResourcesSchema),
  metric: Type.Optional(Name('name of a metric')),
  aggregation: Type.Optional(AggregationSchema),
  interpolation: Type.Optional(InterpolationSchema),
}

const SeriesSchema = Type.Object(
  { name: Type.Optional(Name('name')), ...series },
  { ...open, title: 'series', description: 'an object with resource, metric, aggregation or interpolation' },
)

const AlignSchema = Type.Object(
  {
    at: Type.Optional(Type.Enum([...ALIGN_AT], { title: 'at', description: `one of ${ALIGN_AT.join(', ')}` })),
    shift: Type.Optional(
      Type.Enum([...ALIGN_SHIFT], { title: 'shift', description: `one of ${ALIGN_SHIFT.join(', ')}` }),
    ),
    timezone: Type.Optional(
      Type.String({
        title: 'time zone',
        description: 'an IANA name such as Europe/Brussels, or an offset such as +02:00',
      }),
    ),
  },
  { ...open, title: 'align', description: 'an object with at, shift or timezone' },
)

const Flag = (title: string): TSchema => Type.Boolean({ title, description: 'true or false' })
const AxisSchema = Type.Enum(['row', 'column'], { title: 'axis', description: 'row or column' })
const RenderSchema = Type.Union(
  [
    Type.Enum([...RENDER_MODES], { title: 'render mode', description: `one of ${RENDER_MODES.join(', ')}` }),
    Type.Object(
      {
        mode: Type.Optional(
          Type.Enum([...RENDER_MODES], { title: 'render mode', description: `one of ${RENDER_MODES.join(', ')}` }),
        ),
        roll_up: Type.Optional(Flag('roll_up')),
        hierarchical: Type.Optional(
          Type.Union([Type.Boolean(), Type.Array(Type.Enum(['resource', 'metric', 'aggregation']))], {
            title: 'hierarchical',
            description: 'true, false, or a list of resource, metric and aggregation',
          }),
        ),
        value_key: Type.Optional(Name('value_key')),
        show_levels: Type.Optional(Flag('show_levels')),
        iso_timestamp: Type.Optional(Flag('iso_timestamp')),
        row_key: Type.Optional(Name('row_key')),
        column_key: Type.Optional(Name('column_key')),
        header_array: Type.Optional(AxisSchema),
        data_axis: Type.Optional(AxisSchema),
        key_separator: Type.Optional(Type.String({ maxLength: 20, title: 'key_separator', description: 'a text' })),
        key_seperator: Type.Optional(Type.String({ maxLength: 20, title: 'key_separator', description: 'a text' })),
        key_skip_empty: Type.Optional(Flag('key_skip_empty')),
        include_window_spec: Type.Optional(Flag('include_window_spec')),
      },
      { ...open, title: 'render' },
    ),
  ],
  { title: 'render', description: 'the name of a mode, or an object with mode and options' },
)

export const QuerySchema = Type.Object(
  {
    ...series,
    from: Type.Optional(TimeSchema),
    until: Type.Optional(TimeSchema),
    freq: Type.Optional(DurationSchema),
    periods: Type.Optional(
      Type.Integer({ minimum: 1, title: 'number of periods', description: 'a whole number of at least 1' }),
    ),
    window: Type.Optional(DurationSchema),
    align: Type.Optional(AlignSchema),
    data: Type.Optional(
      Type.Array(SeriesSchema, {
        minItems: 1,
        maxItems: MAX_SERIES,
        title: 'list of series',
        description: `1 to ${MAX_SERIES} objects`,
      }),
    ),
    render: Type.Optional(RenderSchema),
  },
  { ...open, title: 'Time series query' },
)

/** The document at `/schema/query.json`. */
export const QUERY_SCHEMA_DOCUMENT = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Queries of time series',
  definitions: { query: QuerySchema },
  $ref: '#/definitions/query',
} as const
