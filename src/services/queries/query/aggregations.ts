/** Defines the aggregations of buckets, as in pandas: numeric aggregations ignore texts and booleans. */
import { type Aggregate, type AggregateDefinition, COMMON_AGGREGATES, finite, percentileOf } from '#services/shared'

const DEFINITIONS: ReadonlyMap<string, AggregateDefinition> = new Map<string, AggregateDefinition>([
  ...COMMON_AGGREGATES,
  // the sample deviation divides by n - 1, so it is undefined for one number
  ['std', { needs: 'deviation', of: ({ deviation, numeric }) => (numeric < 2 ? null : finite(deviation ?? null)) }],
])

export const PLAIN_AGGREGATIONS: readonly string[] = [...DEFINITIONS.keys()]

const FRACTION = String.raw`percentile\((?:0?\.\d{1,20}|0|1|[01]\.0{1,20}|0\.\d{1,20})\)`

export const AGGREGATION_PATTERN = `^(?:${PLAIN_AGGREGATIONS.join('|')}|${FRACTION})$`

/** Aggregations that also work on texts. */
const OF_ANY: ReadonlySet<string> = new Set(['first', 'last', 'count', 'count-numeric', 'count-non-numeric'])

export function isNumeric(name: string): boolean {
  return !OF_ANY.has(name)
}

export function aggregationOf(name: string): Aggregate {
  const definition = DEFINITIONS.get(name)
  if (definition !== undefined) return { name, ...definition }
  const fraction = Number(name.slice(name.indexOf('(') + 1, -1))
  return { name, needs: 'ranks', of: ({ ranks }) => finite(percentileOf(ranks, fraction)) }
}
