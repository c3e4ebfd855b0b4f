/** Aggregates that groups of the broker and buckets of queries share. Numeric aggregates ignore texts and booleans. */
import type { Aggregate } from './group-values.ts'
import type { SortedRuns } from './sorted-runs.ts'

export type AggregateDefinition = Omit<Aggregate, 'name'>

export const COMMON_AGGREGATES: readonly (readonly [name: string, definition: AggregateDefinition])[] = [
  ['mean', { needs: 'sums', of: ({ sum, numeric }) => (sum === null ? null : finite(sum / numeric)) }],
  ['median', { needs: 'ranks', of: ({ ranks }) => finite(medianOf(ranks)) }],
  ['min', { needs: 'sums', of: ({ min }) => min }],
  ['max', { needs: 'sums', of: ({ max }) => max }],
  ['sum', { needs: 'sums', of: ({ sum }) => finite(sum) }],
  ['count', { needs: 'sums', of: ({ count }) => count }],
  ['count-numeric', { needs: 'sums', of: ({ numeric }) => numeric }],
  ['count-non-numeric', { needs: 'sums', of: ({ count, numeric }) => count - numeric }],
  ['first', { needs: 'sums', of: ({ first }) => first }],
  ['last', { needs: 'sums', of: ({ last }) => last }],
]

/** Returns null for infinite numbers, which JSON does not support. */
export function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null
}

/** Returns the percentile at f (n - 1) with linear interpolation: type 7 in statistics, as in pandas. */
export function percentileOf(ranks: SortedRuns, fraction: number): number | null {
  const { size } = ranks
  if (size === 0) return null
  const rank = fraction * (size - 1)
  const below = Math.floor(rank)
  const low = ranks.at(below)
  return below + 1 < size ? low + (rank - below) * (ranks.at(below + 1) - low) : low
}

function medianOf(ranks: SortedRuns): number | null {
  const { size } = ranks
  if (size === 0) return null
  const middle = ranks.at(size >> 1)
  return size % 2 === 1 ? middle : ranks.at((size >> 1) - 1) / 2 + middle / 2
}
