/** Scans all rows of a table for damage, working around unreadable rows. */
import { messageOf } from '#kernel'
import { sumOf } from './checksum.ts'
import type { Database, SqlValue } from './database.ts'

/** A checksum, and the columns that it covers in the order of `sumOf`. */
interface RowSum {
  readonly sum: string
  readonly numbers: readonly string[]
  readonly contents: readonly string[]
  /** column whose value was added to the checksum */
  readonly added?: string
}

export interface ScannedTable {
  readonly name: string
  readonly key: readonly string[]
  readonly sums: readonly RowSum[]
  /** column without which a row has no checksums */
  readonly unless?: string
}

const plain = (name: string, ...key: readonly string[]): ScannedTable => ({ name, key, sums: [] })
const summed = (name: string, numbers: readonly string[], contents: readonly string[], key = ['key']): ScannedTable => {
  return { name, key, sums: [{ sum: 'sum', numbers, contents }] }
}

export const SERIES_TABLES: readonly ScannedTable[] = [
  plain('tenants', 'name'),
  plain('series', 'key'),
  plain('streams', 'key'),
  plain('applied', 'tenant', 'log', 'partition'),
  summed('arrivals', [], ['samples', 'words']),
  summed('samples', ['series', 'time', 'value', 'other', 'expires'], ['other'], ['series', 'time']),
  summed('chunks', ['series', 'first', 'last', 'count', 'form'], ['samples', 'words']),
  summed('messages', ['stream', 'time', 'expires'], ['body']),
  {
    name: 'message_blocks',
    key: ['key'],
    sums: [
      { sum: 'sum', numbers: ['key', 'count', 'expires'], contents: ['streams', 'times', 'expiries'] },
      { sum: 'bodies_sum', numbers: ['key'], contents: ['ends', 'bodies'] },
    ],
  },
]

export const STATE_TABLES: readonly ScannedTable[] = [
  plain('tenants', 'name'),
  plain('collections', 'name'),
  plain('partitions', 'key'),
  summed('entries', ['partition', 'last', 'count'], ['bodies']),
]

export function documentsOf(collection: string): ScannedTable {
  const sums = [{ sum: 'sum', numbers: [], contents: ['tenant', 'id', 'body'], added: 'version' }]
  return { name: `c_${collection}`, key: ['key'], sums, unless: 'body' }
}

export type Row = ReadonlyMap<string, SqlValue>

export interface ScannedRow {
  readonly row: Row
  readonly isWhole: boolean
}

/** From the beginning and, after an unreadable row, from the end. `unreadable`: why rows in between are lost. */
export function* scanTable(
  db: Database,
  { name, key, sums, unless }: ScannedTable,
  unreadable: (reason: string) => void,
): Generator<ScannedRow> {
  let last: string | undefined
  try {
    const columns = db.rows<[string]>(`SELECT name FROM pragma_table_info('${name}')`).map(([column]) => column)
    for (const direction of ['ASC', 'DESC']) {
      const order = key.map((column) => `${column} ${direction}`).join(', ')
      const statement = db.statement(`SELECT ${columns.join(', ')} FROM ${name} ORDER BY ${order}`)
      // a flipped bit may produce an integer beyond the range of a number
      statement.setReadBigInts(true)
      const seen: string | undefined = last
      try {
        for (const values of statement.iterate() as unknown as Iterable<readonly SqlValue[]>) {
          const row = new Map(columns.map((column, i) => [column, values[i] ?? null]))
          const keyText = key.map((column) => String(row.get(column))).join(' ')
          if (direction === 'ASC') last = keyText
          else if (keyText === seen) return
          const hasSums = unless === undefined || row.get(unless) !== null
          yield { row, isWhole: !hasSums || sums.every((sum) => isWhole(row, sum)) }
        }
        if (direction === 'ASC') return
      } catch (error) {
        if (direction === 'ASC') unreadable(messageOf(error))
      }
    }
  } catch (error) {
    unreadable(messageOf(error))
  }
}

function isWhole(row: Row, { sum, numbers, contents, added }: RowSum): boolean {
  const reckoned = sumOf(
    numbers.map((column) => numberAt(row, column)),
    ...contents.map((column) => row.get(column)),
  )
  return reckoned === (numberAt(row, sum) ?? 0) - (added === undefined ? 0 : (numberAt(row, added) ?? 0))
}

export function numberAt(row: Row, column: string): number | null {
  const value = row.get(column)
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null
}
