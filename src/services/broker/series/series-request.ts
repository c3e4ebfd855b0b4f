/** A read of one series, resolved: what `GET .../series/{metric}` and `POST /series/query` have in common. */
import { makeIssue, refuse } from '#kernel'
import {
  type Aggregate,
  type AggregateDefinition,
  COMMON_AGGREGATES,
  finite,
  MAX_TIME,
  percentileOf,
} from '#services/shared'
import type { SampleValue } from '#storage'
import { type Grouping, lengthMs } from './grouping.ts'
import { type FilterSpecification, namesOf, percentileIn, type SeriesBody, timeAt } from './series-schema.ts'

/** What a group of samples comes to. Numeric aggregates pass over texts and truth values. */
const DEFINITIONS: ReadonlyMap<string, AggregateDefinition> = new Map<string, AggregateDefinition>([
  ...COMMON_AGGREGATES,
  ['std', { needs: 'deviation', of: ({ deviation }) => finite(deviation ?? null) }],
  ['diff', { needs: 'change', of: ({ change }) => finite(change) }],
])

/** Epoch ms, both ends included. */
export interface ResolvedRange {
  readonly from: number
  readonly until: number
}

export type Filter = (value: SampleValue) => boolean

export interface SeriesRequest {
  readonly resources: readonly string[]
  readonly metric: string
  readonly range: ResolvedRange
  /** none: samples as they are */
  readonly aggregates: readonly Aggregate[]
  readonly grouping: Grouping
  /** an IANA zone, whose days or weeks the groups are */
  readonly zone: string | undefined
  readonly filter: Filter | undefined
  readonly descending: boolean
  /** points of the answer, at most */
  readonly limit: number
  /** the query as the answer repeats it */
  readonly echo: Readonly<Record<string, unknown>>
}

export interface ResolveOptions {
  readonly now: number
  /** points of an answer, at most; and as many when nothing is said */
  readonly most: number
  readonly usual?: number
  /** of the query in a list of several */
  readonly place?: string
}

/** Of a checked query. Throws `VALIDATION` for a range that ends before it begins. */
export function requestOf(query: SeriesBody, { now, most, usual = most, place }: ResolveOptions): SeriesRequest {
  const { metric, grouping, zone, filter, order, limit, maxResults } = query
  const range = rangeOf(query, now, place)
  const aggregates = namesOf(query).map(aggregateOf)
  const resources = [...new Set(query.resources)]
  const { aggregate, window } = query
  const asked = Object.entries({ aggregate, filter, limit, maxResults, order, window, zone })
  return {
    resources,
    metric,
    range,
    aggregates,
    grouping: lengthMs(grouping ?? '') ?? 'auto',
    zone: zone ?? undefined,
    filter: filter ? filterOf(filter) : undefined,
    descending: order === 'descending',
    limit: Math.min(most, limit ?? maxResults ?? usual, maxResults ?? most),
    echo: {
      ...range,
      metric,
      aggregates: aggregates.length === 0 ? null : aggregates.map(({ name }) => name),
      grouping: grouping ?? 'auto',
      resources,
      ...Object.fromEntries(asked.filter(([, value]) => value !== undefined && value !== null)),
    },
  }
}

/** Of a name that was checked. */
function aggregateOf(name: string): Aggregate {
  const share = percentileIn(name) ?? 0
  const ofRanks: AggregateDefinition = { needs: 'ranks', of: ({ ranks }) => finite(percentileOf(ranks, share)) }
  return { name, ...(DEFINITIONS.get(name) ?? ofRanks) }
}

/** ms that a range is long when nothing says so */
const DEFAULT_LENGTH = 7 * 86_400_000

/** Of checked bounds, of which no more than two are there. */
export function rangeOf(query: Pick<SeriesBody, 'from' | 'until' | 'window'>, now: number, place = ''): ResolvedRange {
  const { from, until, window } = query
  const length = lengthMs(window ?? '')
  const begin = from === undefined || from === null ? undefined : timeAt(from, now)
  if (begin !== undefined && length !== undefined) return { from: begin, until: Math.min(begin + length, MAX_TIME) }
  const end = until === undefined || until === null ? now : timeAt(until, now)
  const range = { from: begin ?? Math.max(end - (length ?? DEFAULT_LENGTH), -MAX_TIME), until: end }
  if (range.from <= range.until) return range
  const message = `${range.from} is after ${until === undefined || until === null ? 'now' : 'until'}, which is ${end}`
  throw refuse('the query', [makeIssue('QUERY', `${place}/from`, message, 'give a time before it')])
}

type Comparison = (sample: SampleValue, bound: SampleValue) => boolean

/** Values of another type than the bound fit `ne` alone. */
const COMPARISONS: Readonly<Record<Exclude<FilterSpecification['operator'], 'between'>, Comparison>> = {
  gt: (sample, bound) => typeof sample === typeof bound && sample > bound,
  gte: (sample, bound) => typeof sample === typeof bound && sample >= bound,
  lt: (sample, bound) => typeof sample === typeof bound && sample < bound,
  lte: (sample, bound) => typeof sample === typeof bound && sample <= bound,
  eq: (sample, bound) => sample === bound,
  ne: (sample, bound) => sample !== bound,
}

/** Which samples take part, before anything is aggregated. The bounds of `between` do. */
function filterOf({ operator, value = 0, lowerBound = 0, upperBound = 0 }: FilterSpecification): Filter {
  if (operator === 'between')
    return (sample) => typeof sample === 'number' && sample >= lowerBound && sample <= upperBound
  return (sample) => COMPARISONS[operator](sample, value)
}
