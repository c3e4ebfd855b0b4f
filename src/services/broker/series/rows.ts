/**
 * Reads rows of samples, of differences between neighbouring samples, and of groups.
 * A sample at `until` counts if its group began before `until`.
 */
import { type GroupValues, type SampleReader, valuesOfGroups } from '#services/shared'
import type { SampleValue } from '#storage'
import { cutIntoGroups } from './groups.ts'
import type { ResolvedRange, SeriesRequest } from './series-request.ts'

export type Row = readonly [time: number, ...values: (SampleValue | null)[]]

export interface Rows {
  readonly rows: readonly Row[]
  /** the query for the remaining rows; absent: the result is complete */
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

export async function sampleRows(reader: SampleReader, request: SeriesRequest): Promise<Rows> {
  const { resources, metric, range, filter, descending, limit } = request
  const span = { resources, metric, ...range }
  if (limit === 0) return { rows: [] }
  if (filter === undefined) {
    const samples = await reader.first(span, descending, limit + 1)
    return cut(
      samples.map(({ time, value }): Row => [time, value]),
      request,
      (edge) => edge + 1,
    )
  }
  const rows: Row[] = []
  for await (const { times, values } of reader.columns(span, descending)) {
    for (const [i, value] of values.entries()) if (filter(value)) rows.push([times[i] ?? 0, value])
    if (rows.length > limit) break
  }
  return cut(rows, request, (edge) => edge + 1)
}

function cut(rows: readonly Row[], { limit, descending, range }: SeriesRequest, after: (edge: number) => number): Rows {
  const shown = rows.slice(0, limit)
  const edge = shown.at(-1)?.[0]
  if (rows.length <= limit || edge === undefined) return { rows: shown }
  const rest = descending ? { ...range, until: edge - 1 } : { ...range, from: after(edge) }
  return { rows: shown, rest }
}

/** Returns `[time of the later sample, difference]` for neighbouring numbers, with one difference per aggregate. */
export async function differenceRows(reader: SampleReader, request: SeriesRequest): Promise<Rows> {
  const { resources, metric, range, aggregates, filter, descending, limit } = request
  const rows: Row[] = []
  let before: { readonly time: number; readonly value: number } | undefined
  for await (const { times, values } of reader.columns({ resources, metric, ...range }, descending)) {
    for (const [i, value] of values.entries()) {
      const time = times[i] ?? 0
      if (typeof value !== 'number' || filter?.(value) === false) continue
      const [earlier, later] = descending ? [{ time, value }, before] : [before, { time, value }]
      before = { time, value }
      if (earlier === undefined || later === undefined) continue
      const difference = later.value - earlier.value
      rows.push([later.time, ...aggregates.map(() => (Number.isFinite(difference) ? difference : null))])
    }
    if (rows.length > limit) break
  }
  // the next difference starts from the last sample of this page
  return cut(rows, request, (edge) => edge)
}
