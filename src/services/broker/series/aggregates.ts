/** What a group of samples comes to. Numeric aggregates pass over texts and truth values. */
import type { SampleValue } from '../../../storage/contract.ts'
import type { Figures } from './figures.ts'
import type { SortedRuns } from './sorted-runs.ts'

export interface Aggregate {
  /** as it was asked for */
  readonly name: string
  /** what has to be known of a group: sums that storage has, a deviation, or every sample */
  readonly needs: 'sums' | 'deviation' | 'change' | 'ranks'
  /** null where there is nothing to tell, as of no numeric sample */
  of(group: Figures): SampleValue | null
}

type Definition = Omit<Aggregate, 'name'>

const DEFINITIONS: ReadonlyMap<string, Definition> = new Map<string, Definition>([
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

function percentile(name: string): Definition | undefined {
  const text = PERCENTILE.exec(name)?.[1]
  const share = text === undefined || text === '' ? 0 : Number(text)
  if (!(share > 0 && share <= 1)) return undefined
  return { needs: 'ranks', of: ({ ranks }) => finite(percentileOf(ranks, share)) }
}

function medianOf(ranks: SortedRuns): number | null {
  const { size } = ranks
  if (size === 0) return null
  const middle = ranks.at(size >> 1)
  return size % 2 === 1 ? middle : ranks.at((size >> 1) - 1) / 2 + middle / 2
}

/** At place q (n + 1), between neighbours by the line through both: what statistics call type 6. */
function percentileOf(ranks: SortedRuns, share: number): number | null {
  const { size } = ranks
  if (size === 0) return null
  const place = share * (size + 1)
  if (place < 1) return ranks.at(0)
  if (place >= size) return ranks.at(size - 1)
  const whole = Math.floor(place)
  const below = ranks.at(whole - 1)
  return below + (place - whole) * (ranks.at(whole) - below)
}

/** What JSON can say of a number: one that grew beyond all bounds is none. */
function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null
}
