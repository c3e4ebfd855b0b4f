/** What a group of samples comes to. Numeric aggregates pass over texts and truth values. */
import { type Aggregate, type AggregateDefinition, COMMON_AGGREGATES, finite, percentileOf } from '#services/shared'

const DEFINITIONS: ReadonlyMap<string, AggregateDefinition> = new Map<string, AggregateDefinition>([
  ...COMMON_AGGREGATES,
  ['std', { needs: 'deviation', of: ({ deviation }) => finite(deviation ?? null) }],
  ['diff', { needs: 'change', of: ({ change }) => finite(change) }],
])
const PERCENTILE = /^percentile\((\d{0,9}(?:\.\d{1,20})?)\)$/

/** What is right, for errors. */
export const AGGREGATE_FORMS = `write one of ${[...DEFINITIONS.keys()].join(', ')}, or percentile(q) with q above 0 and at most 1`

/** The aggregate of that name, undefined for none. */
export function aggregateOf(name: string): Aggregate | undefined {
  const definition = DEFINITIONS.get(name) ?? percentile(name)
  return definition && { name, ...definition }
}

function percentile(name: string): AggregateDefinition | undefined {
  const text = PERCENTILE.exec(name)?.[1]
  const share = text === undefined || text === '' ? 0 : Number(text)
  if (!(share > 0 && share <= 1)) return undefined
  return { needs: 'ranks', of: ({ ranks }) => finite(percentileOf(ranks, share)) }
}
