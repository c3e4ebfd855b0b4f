/** Resolves all defaults in a read of one series, for `GET .../series/{metric}` and `POST /series/query`. */
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

/** Aggregates over a group. Numeric aggregates ignore texts and booleans. */
const DEFINITIONS: ReadonlyMap<string, AggregateDefinition> = new Map<string, AggregateDefinition>([
  ...COMMON_AGGREGATES,
  ['std', { needs: 'deviation', of: ({ deviation }) => finite(deviation ?? null) }],
  ['diff', { needs: 'change', of: ({ change }) => finite(change) }],
])

/** Epoch ms, both ends inclusive. */
export interface ResolvedRange {
  readonly from: number
  readonly until: number
}

export type Filter = (value: SampleValue) => boolean

export interface SeriesRequest {
  readonly resources: readonly string[]
  readonly metric: string
  readonly range: ResolvedRange
  /** empty: return samples without grouping */
  readonly aggregates: readonly Aggregate[]
  readonly grouping: Grouping
  readonly zone: string | undefined
  readonly filter: Filter | undefined
  readonly descending: boolean
  readonly limit: number
  readonly echo: Readonly<Record<string, unknown>>
}

export interface ResolveOptions {
  readonly now: number
  readonly most: number
  readonly usual?: number
  readonly path?: string
}

export function requestOf(query: SeriesBody, { now, most, usual = most, path }: ResolveOptions): SeriesRequest {
  const { metric, grouping, zone, filter, order, limit, maxResults } = query
  const range = rangeOf(query, now, path)
  const aggregates = namesOf(query).map(aggregateOf)
  const resources = [...new Set(query.resources)]
  const { aggregate, window } = query
  const written = Object.entries({ aggregate, filter, limit, maxResults, order, window, zone })
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
      ...Object.fromEntries(written.filter(([, value]) => value !== undefined && value !== null)),
    },
  }
}

function aggregateOf(name: string): Aggregate {
  const share = percentileIn(name) ?? 0
  const ofRanks: AggregateDefinition = { needs: 'ranks', of: ({ ranks }) => finite(percentileOf(ranks, share)) }
  return { name, ...(DEFINITIONS.get(name) ?? ofRanks) }
}

/** Length of the default range in ms. */
const DEFAULT_LENGTH = 7 * 86_400_000

export function rangeOf(query: Pick<SeriesBody, 'from' | 'until' | 'window'>, now: number, path = ''): ResolvedRange {
  const { from, until, window } = query
  const length = lengthMs(window ?? '')
  const begin = from === undefined || from === null ? undefined : timeAt(from, now)
  if (begin !== undefined && length !== undefined) return { from: begin, until: Math.min(begin + length, MAX_TIME) }
  const end = until === undefined || until === null ? now : timeAt(until, now)
  const range = { from: begin ?? Math.max(end - (length ?? DEFAULT_LENGTH), -MAX_TIME), until: end }
  if (range.from <= range.until) return range
  const message = `${range.from} is after ${until === undefined || until === null ? 'now' : 'until'}, which is ${end}`
  throw refuse('the query', [makeIssue('QUERY', `${path}/from`, message, 'use an earlier time')])
}

type Comparison = (sample: SampleValue, bound: SampleValue) => boolean

/** A value whose type differs from that of the bound matches only `ne`. */
const COMPARISONS: Readonly<Record<Exclude<FilterSpecification['operator'], 'between'>, Comparison>> = {
  gt: (sample, bound) => typeof sample === typeof bound && sample > bound,
  gte: (sample, bound) => typeof sample === typeof bound && sample >= bound,
  lt: (sample, bound) => typeof sample === typeof bound && sample < bound,
  lte: (sample, bound) => typeof sample === typeof bound && sample <= bound,
  eq: (sample, bound) => sample === bound,
  ne: (sample, bound) => sample !== bound,
}

/** Filters samples before aggregation. `between` includes its bounds. */
function filterOf({ operator, value = 0, lowerBound = 0, upperBound = 0 }: FilterSpecification): Filter {
  if (operator === 'between')
    return (sample) => typeof sample === 'number' && sample >= lowerBound && sample <= upperBound
  return (sample) => COMPARISONS[operator](sample, value)
}
