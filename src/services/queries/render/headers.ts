/** Names of the columns of a table in text. */
import type { ColumnPlan } from '../query/plan.ts'
import { ownerOf } from '../query/plan.ts'

/** The name of a series, else `resource/metric` or `resource/metric/aggregation`. Each once: those that come again get a number. */
export function headersOf(columns: readonly ColumnPlan[]): readonly string[] {
  const known = new Map<string, number>([['timestamp', 1]])
  return columns.map((column) => {
    const { name, metric, aggregation } = column
    // of several series under one name
    const own = name !== undefined && columns.filter((other) => other.name === name).length === 1 ? name : undefined
    const header = own ?? [ownerOf(column), metric, ...(aggregation === undefined ? [] : [aggregation.name])].join('/')
    const count = (known.get(header) ?? 0) + 1
    known.set(header, count)
    return count === 1 ? header : `${header} (${count})`
  })
}
