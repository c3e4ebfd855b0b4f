/** Rows of samples as they are, and of the differences between neighbours. */
import type { SampleReader } from '#services/shared'
import type { Row, Rows } from './group-rows.ts'
import type { SeriesRequest } from './series-request.ts'

/** `[time, value]` of each sample that the filter takes, at most `limit`. */
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
  for await (const samples of reader.slices(span, descending)) {
    for (const { time, value } of samples) if (filter(value)) rows.push([time, value])
    if (rows.length > limit) break
  }
  return cut(rows, request, (edge) => edge + 1)
}

/** `after`: where what remains begins behind a row, when time goes forward. */
function cut(rows: readonly Row[], { limit, descending, range }: SeriesRequest, after: (edge: number) => number): Rows {
  const shown = rows.slice(0, limit)
  const edge = shown.at(-1)?.[0]
  if (rows.length <= limit || edge === undefined) return { rows: shown }
  const rest = descending ? { ...range, until: edge - 1 } : { ...range, from: after(edge) }
  return { rows: shown, rest }
}

/** `[time of the later, difference]` of neighbouring numbers, one such value for each of the aggregates. */
export async function differenceRows(reader: SampleReader, request: SeriesRequest): Promise<Rows> {
  const { resources, metric, range, aggregates, filter, descending, limit } = request
  const rows: Row[] = []
  let before: { readonly time: number; readonly value: number } | undefined
  for await (const samples of reader.slices({ resources, metric, ...range }, descending)) {
    for (const { time, value } of samples) {
      if (typeof value !== 'number' || filter?.(value) === false) continue
      const [earlier, later] = descending ? [{ time, value }, before] : [before, { time, value }]
      before = { time, value }
      if (earlier === undefined || later === undefined) continue
      const difference = later.value - earlier.value
      rows.push([later.time, ...aggregates.map(() => (Number.isFinite(difference) ? difference : null))])
    }
    if (rows.length > limit) break
  }
  // the next difference is to the sample of this one
  return cut(rows, request, (edge) => edge)
}
