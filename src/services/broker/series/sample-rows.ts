/** Rows of samples as they are, and of the differences between neighbours. */
import type { SampleReader } from './sample-reader.ts'
import type { Row } from './group-rows.ts'
import type { SeriesRequest } from './series-request.ts'

/** `[time, value]` of each sample that the filter takes, at most `limit`. */
export async function sampleRows(reader: SampleReader, request: SeriesRequest): Promise<readonly Row[]> {
  const { resources, metric, range, filter, descending, limit } = request
  const span = { resources, metric, ...range }
  if (limit === 0) return []
  if (filter === undefined) {
    const samples = await reader.first(span, descending, limit)
    return samples.map(({ time, value }): Row => [time, value])
  }
  const rows: Row[] = []
  for await (const samples of reader.slices(span, descending)) {
    for (const { time, value } of samples) if (filter(value)) rows.push([time, value])
    if (rows.length >= limit) break
  }
  return rows.slice(0, limit)
}

/** `[time of the later, difference]` of neighbouring numbers, one such value for each of the aggregates. */
export async function differenceRows(reader: SampleReader, request: SeriesRequest): Promise<readonly Row[]> {
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
    if (rows.length >= limit) break
  }
  return rows.slice(0, limit)
}
