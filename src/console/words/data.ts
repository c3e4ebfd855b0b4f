/** Queries of time series, and their results in words. */
import { countText } from './numbers.ts'

export interface QueryForm {
  readonly resources: readonly string[]
  readonly metrics: readonly string[]
  readonly aggregation: string
  /** ISO 8601 duration, or empty: raw samples */
  readonly freq: string
  readonly from: string
}

/** Returns the body of `POST /data/query`. */
export function queryOf({ resources, metrics, aggregation, freq, from }: QueryForm): object {
  const data = resources.flatMap((resource) =>
    metrics.map((metric) => ({ resource, metric, ...(freq !== '' && { aggregation }) })),
  )
  return { from, until: 'PT0S', ...(freq !== '' && { freq }), data }
}

export interface QueriedSeries {
  readonly name: string
  readonly points: readonly (readonly [number, number])[]
  readonly empty: number
  /** from the last point before empty rows to the next one */
  readonly gaps: readonly { readonly from: number; readonly until: number }[]
}

/** Reads the series from rows whose first cell is the time. */
export function seriesOf(names: readonly string[], rows: readonly (readonly unknown[])[]): readonly QueriedSeries[] {
  return names.slice(1).map((name, index) => {
    const points: (readonly [number, number])[] = []
    const gaps: { readonly from: number; readonly until: number }[] = []
    let isEmpty = false
    for (const row of rows) {
      const [time, value] = [row[0], row[index + 1]]
      if (typeof time === 'number' && typeof value === 'number') {
        const last = points.at(-1)
        if (isEmpty && last !== undefined) gaps.push({ from: last[0], until: time })
        points.push([time, value])
      }
      isEmpty = value === null
    }
    return { name, points, empty: rows.length - points.length, gaps }
  })
}

/** Returns what was measured, and where values are missing. */
export function dataAnswer(series: readonly QueriedSeries[], rows: number): string {
  if (series.length === 0) return 'What was measured, and where are gaps?'
  const points = series.reduce((sum, one) => sum + one.points.length, 0)
  if (points === 0) return 'Nothing was measured in this range'
  const missing = series.filter(({ empty }) => empty > 0).length
  const gaps =
    missing === 0
      ? 'without gaps'
      : `${missing === series.length && series.length > 1 ? 'all' : missing} of them with gaps`
  return `${countText(series.length, 'series', 'series')} of ${countText(rows, 'row')}, ${series.length === 1 && missing === 1 ? 'with gaps' : gaps}`
}
