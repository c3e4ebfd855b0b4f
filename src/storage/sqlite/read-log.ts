/** Reads logs on a reader's connection, inside the transaction of the caller. */
import { damaged } from '../damage.ts'
import { sumOf } from './checksum.ts'
import type { Database } from './database.ts'
import { lastOf } from './log-tables.ts'

export type LogRead = { readonly tenant: string; readonly log: string } & (
  | { readonly kind: 'entries'; readonly partition: number; readonly after: number; readonly limit: number }
  | { readonly kind: 'bounds'; readonly partition: number }
  | { readonly kind: 'partitions' }
)

/** A row is a JSON array of bodies, and the position of its last entry; the first may begin before `from`. */
export interface LogRows {
  readonly from: number
  readonly rows: readonly LogRow[]
}

export type LogRow = readonly [last: number, count: number, bodies: string]

export function readLog(db: Database, read: LogRead): unknown {
  switch (read.kind) {
    case 'entries': {
      const [key, first] = partitionOf(db, read, read.partition)
      const from = Math.max(read.after + 1, first)
      return { from, rows: key === 0 ? [] : rowsFrom(db, read, key, from, read.limit) } satisfies LogRows
    }
    case 'bounds': {
      const [key, first, trimmed] = partitionOf(db, read, read.partition)
      return { first, last: lastOf(db, key, trimmed) }
    }
    case 'partitions':
      return db
        .rows<[number]>(
          'SELECT partition FROM partitions WHERE tenant = ? AND log = ? ORDER BY partition',
          read.tenant,
          read.log,
        )
        .map(([partition]) => partition)
  }
}

function partitionOf(
  db: Database,
  { tenant, log }: LogRead,
  partition: number,
): readonly [key: number, first: number, trimmed: number] {
  const sql = 'SELECT key, first, last FROM partitions WHERE tenant = ? AND log = ? AND partition = ?'
  return db.row<[number, number, number]>(sql, tenant, log, partition) ?? [0, 1, 0]
}

/** Returns whole rows that contain at least `limit` entries, if available. */
function rowsFrom(db: Database, { tenant, log }: LogRead, key: number, from: number, limit: number): readonly LogRow[] {
  const sql = 'SELECT last, count, bodies, sum FROM entries WHERE partition = ? AND last >= ? ORDER BY last'
  const rows: LogRow[] = []
  let before = 0
  const found = db.statement(sql).iterate(key, from) as unknown as Iterable<readonly [...LogRow, sum: number]>
  for (const [last, count, bodies, sum] of found) {
    if (last - count < before || last < from || sumOf([key, last, count], bodies) !== sum) {
      throw damaged(`The log ${log} of the tenant ${tenant}, around its entry ${last},`)
    }
    before = last
    rows.push([last, count, bodies])
    if (last >= from + limit - 1) break
  }
  return rows
}
