/** Schemas, with limits, for queries of series and messages and for their results. Null in a query counts as absent. */
import { IANAZone } from 'luxon'
import { type TSchema, Type } from 'typebox'
import { isoInstant, notAnInstant, shown } from '#kernel'
import {
  CHECKED,
  checked,
  closed,
  type Decoded,
  MAX_TIME,
  nullable,
  type Problem,
  refined,
  seriesName,
} from '#services/shared/contract'
import { DAY, LENGTH, LENGTH_FORMS, lengthMs, WEEK } from './grouping.ts'

const MAX_RESOURCES = 1_000
const MAX_AGGREGATES = 20

const AGGREGATES = [
  'mean',
  'median',
  'min',
  'max',
  'sum',
  'count',
  'count-numeric',
  'count-non-numeric',
  'first',
  'last',
  'std',
  'diff',
] as const
const PERCENTILE = String.raw`percentile\((\d{0,9}(?:\.\d{1,20})?)\)`
const AGGREGATE_FORMS = `write one of ${AGGREGATES.join(', ')}, or percentile(q) with q above 0 and at most 1`

export function percentileIn(name: string): number | undefined {
  const digits = new RegExp(`^${PERCENTILE}$`).exec(name)?.[1]
  const share = digits === undefined || digits === '' ? 0 : Number(digits)
  return share > 0 && share <= 1 ? share : undefined
}

const aggregate = refined(Type.String({ pattern: `^(?:${AGGREGATES.join('|')}|${PERCENTILE})$` }), (value) => {
  const isOne =
    AGGREGATES.some((one) => one === value) || (typeof value === 'string' && percentileIn(value) !== undefined)
  return isOne ? [] : [{ message: `${shown(value)} is not an aggregate`, suggestion: AGGREGATE_FORMS }]
})

const resource = seriesName('resource')
const metric = seriesName('metric')
const resources = Type.Array(resource, { minItems: 1, maxItems: MAX_RESOURCES })

const TIME_FORMS = 'epoch milliseconds, ISO 8601 such as 2024-03-01T12:00:00Z, or an age such as -2d'
const time = refined(
  Type.Union(
    [
      Type.String({ pattern: String.raw`^(?:-?\d{1,16}|\s*\d{4}-\d{2}-\d{2}[^\n]{0,30}|-?${LENGTH})$` }),
      Type.Integer({ minimum: -MAX_TIME, maximum: MAX_TIME }),
    ],
    { description: TIME_FORMS },
  ),
  (value) => {
    const ms = timeAt(value, 0)
    if (Number.isInteger(ms) && Math.abs(ms) <= MAX_TIME) return []
    return [{ message: `${shown(value)} ${notAnInstant(value)}`, suggestion: `write ${TIME_FORMS}` }]
  },
)

const EPOCH = /^-?\d{1,16}$/

/** Converts a time, or an age before `now`, to epoch ms. Returns NaN for anything else. */
export function timeAt(value: unknown, now: number): number {
  if (typeof value !== 'string') return typeof value === 'number' ? value : Number.NaN
  const age = lengthMs(value.replace(/^-/, ''))
  if (age !== undefined) return Math.max(now - age, -MAX_TIME)
  return EPOCH.test(value) ? Number(value) : isoInstant(value)
}

function lengthOf(what: string, words = '') {
  const isLength = (value: unknown): boolean =>
    typeof value === 'string' && (lengthMs(value) !== undefined || (words !== '' && words.split('|').includes(value)))
  return refined(Type.String({ pattern: `^(?:${words === '' ? '' : `${words}|`}${LENGTH})$` }), (value) =>
    isLength(value) ? [] : [{ message: `${shown(value)} is not a ${what}`, suggestion: `write ${LENGTH_FORMS}` }],
  )
}

const window = lengthOf('length of time')
const grouping = lengthOf('grouping', 'auto|none')
const zone = refined(
  Type.String({
    pattern: String.raw`^[\w:+-]{1,20}(?:/[\w+-]{1,30}){0,2}$`,
    description: 'zone of the days or weeks, such as Europe/Brussels',
  }),
  (value) =>
    typeof value === 'string' && IANAZone.isValidZone(value)
      ? []
      : [{ message: `${shown(value)} is not a time zone`, suggestion: 'write a zone such as Europe/Brussels' }],
)
const order = Type.Enum(['ascending', 'descending'])
const limit = Type.Integer({ minimum: 1 })

const OPERATORS = ['gt', 'gte', 'lt', 'lte', 'eq', 'ne'] as const
const filter = refined(
  closed({
    operator: Type.Enum([...OPERATORS, 'between']),
    value: Type.Optional(
      Type.Union([Type.Number(), Type.String(), Type.Boolean()], { description: 'for all operators except between' }),
    ),
    lowerBound: Type.Optional(Type.Number({ description: 'for between; inclusive' })),
    upperBound: Type.Optional(Type.Number({ description: 'for between; inclusive' })),
  }),
  (filter) => {
    const { operator, value, lowerBound, upperBound } = filter as Readonly<Record<string, unknown>>
    const needed = Object.entries(operator === 'between' ? { lowerBound, upperBound } : { value })
    const missing = needed.filter(([, bound]) => bound === undefined)
    if (missing.length > 0) return missing.map(([name]) => ({ at: `/${name}`, message: 'is missing' }))
    if (operator !== 'between' || !(Number(lowerBound) > Number(upperBound))) return []
    const message = `${shown(lowerBound)} is above upperBound, which is ${shown(upperBound)}`
    return [{ at: '/lowerBound', message, suggestion: 'exchange them' }]
  },
)
export type FilterSpecification = Decoded<typeof filter>

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(nullable(schema))
}

const RANGE = { from: optional(time), until: optional(time), window: optional(window) }

/** Time parameters of reads: epoch ms, ISO 8601, or an age such as `-2d`. */
export const UNTIL = { until: Type.Optional(time) }
export const FROM_UNTIL = { from: Type.Optional(time), ...UNTIL }
export const LIMIT = { limit: Type.Optional(limit) }
export const PAGE = { ...FROM_UNTIL, ...LIMIT, order: Type.Optional(order) }
const GROUPS = { grouping: Type.Optional(grouping), zone: Type.Optional(zone), aggregate: Type.Optional(aggregate) }
const commas = Type.String({ description: 'separated by commas' })
export const SERIES = { ...PAGE, ...GROUPS, aggregates: Type.Optional(Type.Array(commas)) }
export const SERIES_PAGE = { ...PAGE, ...GROUPS, aggregates: Type.Optional(commas) }
const SeriesQuerySchema = Type.Object(SERIES_PAGE)
export interface SeriesQuery extends Decoded<typeof SeriesQuerySchema> {}
export const MESSAGES = { ...FROM_UNTIL, window: Type.Optional(window), ...LIMIT }

const QuerySchema = refined(
  closed(
    {
      metric,
      resources,
      aggregates: optional(Type.Array(aggregate, { maxItems: MAX_AGGREGATES, ...CHECKED })),
      aggregate: optional(aggregate),
      grouping: optional(grouping),
      zone: optional(zone),
      ...RANGE,
      filter: optional(filter),
      order: optional(order),
      limit: optional(limit),
      maxResults: optional(Type.Integer({ minimum: 0 })),
    },
    { title: 'query of a series' },
  ),
  (query) => {
    const { resources, grouping, zone } = query as Readonly<Record<string, unknown>>
    const width = typeof grouping === 'string' ? lengthMs(grouping) : undefined
    const isRaw = namesOf(query as SeriesBody).length === 0
    const missing = (why: string): Problem => {
      return { at: '/aggregates', message: `is missing, though there ${why}`, suggestion: AGGREGATE_FORMS }
    }
    const several = Array.isArray(resources) && resources.length > 1
    const problems = [...rangeProblems(query)]
    if (isRaw && width !== undefined) problems.push(missing('is a grouping'))
    else if (isRaw && several) problems.push(missing('are several resources'))
    if (typeof zone === 'string' && width !== DAY && width !== WEEK) {
      const suggestion = 'group by day or week, or omit it'
      problems.push({ at: '/zone', message: 'requires a grouping by days or weeks', suggestion })
    }
    return problems
  },
)
export type SeriesBody = Decoded<typeof QuerySchema>
export const SeriesQueryBody = checked(QuerySchema, { subject: 'the query', type: 'QUERY' })
export const SeriesQueryList = checked(Type.Array(QuerySchema), { subject: 'the query', type: 'QUERY' })

function rangeProblems(query: unknown): readonly Problem[] {
  const { from, until, window } = query as Readonly<Record<string, unknown>>
  if ([from, until, window].some((one) => one === undefined || one === null)) return []
  return [{ at: '/window', message: 'from, until and window cannot be combined', suggestion: 'omit one of the three' }]
}

/** Lists the aggregates of a query. The query echoed in a result contains a single aggregate under both names. */
export function namesOf({ aggregate, aggregates }: Pick<SeriesBody, 'aggregate' | 'aggregates'>): readonly string[] {
  const list = Array.isArray(aggregates) ? (aggregates as readonly string[]) : []
  return typeof aggregate === 'string' && !list.includes(aggregate) ? [aggregate, ...list] : list
}

export const RawQuery = checked(
  closed({
    metric,
    resources,
    from: optional(time),
    until: optional(time),
    order: optional(order),
    limit: optional(limit),
  }),
  { subject: 'the query', type: 'QUERY' },
)

export const MessageQuery = checked(
  refined(closed({ resources, limit: optional(limit), ...RANGE }, { title: 'query of messages' }), rangeProblems),
  { subject: 'the query', type: 'QUERY' },
)

const RemovalSchema = closed({
  resource,
  metrics: Type.Optional(Type.Array(metric)),
  ...FROM_UNTIL,
  only: Type.Optional(Type.Enum(['samples', 'messages'])),
})
export type SeriesRemoval = Decoded<typeof RemovalSchema>
export const SeriesRemoval = checked(RemovalSchema, { subject: 'the removal', type: 'QUERY' })
export const SeriesOfResource = checked(closed({ resource }), { subject: 'the request', type: 'QUERY' })

const Text = Type.String()
const ROWS = {
  query: Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Unknown()),
  series: Type.Unsafe<readonly (readonly unknown[])[]>(
    Type.Array(Type.Array(Type.Unknown()), { description: '[time, value], or [time, value of each aggregate ...]' }),
  ),
  truncated: Type.Optional(
    Type.Unsafe<true>(Type.Boolean({ description: 'true: the response is truncated; see next' })),
  ),
}
/** `query`: the resolved query, with epoch ms and lists. */
export interface SeriesAnswer extends Decoded<typeof AnswerSchema> {}
const AnswerSchema = Type.Object(ROWS)
/** `next`: the query for the remaining points. */
export interface SeriesPage extends SeriesAnswer {
  readonly next?: SeriesQuery
}
export const SeriesSchema = Type.Object({
  ...ROWS,
  next: Type.Optional(Type.String({ description: 'address of the next page' })),
})
export const QueriedSchema = Type.Object({
  ...ROWS,
  next: Type.Optional(Type.Unknown({ description: 'body of the request for the next page' })),
})
export const HalSchema = Type.Object(
  { ...ROWS, next: Type.Optional(Text), _links: Type.Optional(Type.Unknown()) },
  { additionalProperties: true },
)
