/**
 * Groups of samples and what they come to: a group has the samples from its label, which is where it starts, up to and
 * without the next one, and every label below `until` has a row. A sample at `until` itself counts when its group began
 * before.
 */
import { type GroupValues, type SampleReader, valuesOfGroups } from '#services/shared'
import type { SampleValue } from '#storage'
import { cutIntoGroups } from './groups.ts'
import type { ResolvedRange, SeriesRequest } from './series-request.ts'

/** The label of a group, then the value of each aggregate. */
export type Row = readonly [time: number, ...values: (SampleValue | null)[]]

/** What of a range fits into one answer. */
export interface Rows {
  readonly rows: readonly Row[]
  /** what to ask for what did not fit; absent when all did */
  readonly rest?: ResolvedRange & { readonly grouping?: string }
}

export async function groupRows(reader: SampleReader, request: SeriesRequest): Promise<Rows> {
  const { range, descending, aggregates, resources, metric } = request
  const groups = cutIntoGroups(request)
  const { labels, end, rest } = groups
  const [from] = labels
  if (from === undefined) return { rows: [] }
  const span = { resources, metric, from, until: Math.min(end - 1, range.until) }
  const { filter } = request
  const found = await valuesOfGroups(reader, { aggregates, filter, groups, span, since: range.from })
  const none: GroupValues = aggregates.map(() => null)
  const rows = labels.map((label): Row => [label, ...(found.get(label) ?? none)])
  if (descending) rows.reverse()
  return { rows, ...(rest && { rest }) }
}
