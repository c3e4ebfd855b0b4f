/** Searches a database file for damage, and describes what is lost. Only reads the file. */
import { messageOf } from '#kernel'
import { sumOf } from './checksum.ts'
import { type Database, openReader, type SqlValue } from './database.ts'
import { type FileForm, requireForm } from './file-form.ts'
import { CODE, SAMPLE, seriesOfCode, TIME } from './sample-block.ts'
import { SERIES_FORM } from './series-form.ts'
import { STATE_FORM } from './state-form.ts'

/** A checksum, and the columns that it covers in the order of `sumOf`. */
interface RowSum {
  readonly sum: string
  readonly numbers: readonly string[]
  readonly contents: readonly string[]
  /** column whose value was added to the checksum */
  readonly added?: string
}

/** Scans all rows of a table for damage, working around unreadable rows. */
interface ScannedTable {
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

const SERIES_TABLES: readonly ScannedTable[] = [
  plain('tenants', 'name'),
  plain('series', 'key'),
  plain('streams', 'key'),
  plain('applied', 'tenant', 'log'),
  summed('arrivals', [], ['samples', 'words']),
  summed('chunks', ['series', 'small', 'first', 'last', 'count', 'form'], ['samples', 'words']),
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

const STATE_TABLES: readonly ScannedTable[] = [
  plain('tenants', 'name'),
  plain('collections', 'name'),
  plain('logs', 'key'),
  summed('entries', ['log', 'last', 'count'], ['bodies']),
]

function documentsOf(collection: string): ScannedTable {
  const sums = [{ sum: 'sum', numbers: [], contents: ['tenant', 'id', 'body'], added: 'version' }]
  return { name: `c_${collection}`, key: ['key'], sums, unless: 'body' }
}

export type Row = ReadonlyMap<string, SqlValue>

interface ScannedRow {
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

function numberAt(row: Row, column: string): number | null {
  const value = row.get(column)
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null
}

/** A damaged record, and what is known of its content. Times are epoch ms; unknown fields are absent. */
export interface Damage {
  readonly place: string
  readonly what: 'structure' | 'samples' | 'messages' | 'document' | 'log' | 'object' | 'key'
  readonly tenant?: string
  /** the resource, for samples and messages; otherwise the name */
  readonly name?: string
  /** metric of samples, or stream of messages */
  readonly metric?: string
  readonly from?: number
  readonly until?: number
  readonly count?: number
  readonly problem: string
}

export interface Examination {
  readonly rows: number
  readonly damaged: readonly Damage[]
}

const FORMS = {
  'state.db': { form: STATE_FORM, tables: STATE_TABLES },
  'series.db': { form: SERIES_FORM, tables: SERIES_TABLES },
} as const satisfies Record<string, { readonly form: FileForm; readonly tables: readonly ScannedTable[] }>

export type FileName = keyof typeof FORMS

const CHANGED = 'other bytes than were written'

const MAX_LISTED = 100

export function examineFile(path: string, file: FileName): Examination {
  let db: Database | undefined
  try {
    db = openReader(path, 16)
    requireForm(db, path, FORMS[file].form)
    return examine(db, file)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'DAMAGED') throw error
    return { rows: 0, damaged: [{ place: file, what: 'structure', problem: messageOf(error) }] }
  } finally {
    db?.close()
  }
}

export interface FoundDocument {
  readonly tenant: string
  readonly id: string
  readonly body: unknown
}

/** Returns the intact documents of a collection in `state.db`, of all tenants. */
export function documentsIn(path: string, collection: string): readonly FoundDocument[] {
  const db = openReader(path, 16)
  try {
    const table = documentsOf(collection)
    if (!tablesOf(db, 'state.db').some(({ name }) => name === table.name)) return []
    const found: FoundDocument[] = []
    for (const { row, isWhole } of scanTable(db, table, () => undefined)) {
      const body = row.get('body')
      if (!isWhole || typeof body !== 'string') continue
      found.push({ tenant: textOf(row.get('tenant')), id: textOf(row.get('id')), body: JSON.parse(body) })
    }
    return found
  } finally {
    db.close()
  }
}

export const formOfFile = (file: FileName): FileForm => FORMS[file].form

/** Returns all tables that contain original data. */
export function tablesOf(db: Database, file: FileName): readonly ScannedTable[] {
  const { tables } = FORMS[file]
  if (file !== 'state.db') return tables
  const collections = db.rows<[string]>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'c_*'`)
  return [...tables, ...collections.map(([name]) => documentsOf(name.slice(2)))]
}

function examine(db: Database, file: FileName): Examination {
  const damaged: Damage[] = structureOf(db, file)
  let rows = 0
  for (const table of tablesOf(db, file)) {
    const place = `${file} ${table.name}`
    const unreadable = (reason: string): void => void damaged.push({ place, what: 'structure', problem: reason })
    for (const { row, isWhole } of scanTable(db, table, unreadable)) {
      rows += 1
      if (!isWhole) damaged.push(...lostWith(db, table.name, row).map((lost) => ({ place, ...lost, problem: CHANGED })))
    }
  }
  return { rows, damaged }
}

function structureOf(db: Database, file: FileName): Damage[] {
  const structure = (problem: string): Damage => ({ place: file, what: 'structure', problem })
  try {
    const found = db.rows<[string]>(`PRAGMA integrity_check(${MAX_LISTED})`)
    return found.flatMap(([problem]) => (problem === 'ok' ? [] : [structure(problem)]))
  } catch (error) {
    return [structure(messageOf(error))]
  }
}

type LostData = Omit<Damage, 'place' | 'problem'>

export function lostWith(db: Database, table: string, row: Row): readonly LostData[] {
  const number = (column: string): number => numberAt(row, column) ?? 0
  const span = (from: number, until: number, count: number): Pick<LostData, 'from' | 'until' | 'count'> => {
    return { from, until, count }
  }
  switch (table) {
    case 'chunks':
      return [
        {
          what: 'samples',
          ...seriesAt(db, number('series')),
          ...span(number('first'), number('last'), number('count')),
        },
      ]
    case 'arrivals':
      return spansOf(numbersOf(row.get('samples')), SAMPLE, TIME, (numbers, at) =>
        seriesOfCode(numbers[at + CODE] ?? 0),
      ).map(([series, extent]) => ({ what: 'samples', ...seriesAt(db, series), ...extent }))
    case 'messages':
      return [{ what: 'messages', ...streamAt(db, number('stream')), ...span(number('time'), number('time'), 1) }]
    case 'message_blocks': {
      const streams = numbersOf(row.get('streams'))
      return spansOf(numbersOf(row.get('times')), 1, 0, (_times, at) => streams[at] ?? 0).map(([stream, extent]) => ({
        what: 'messages',
        ...streamAt(db, stream),
        ...extent,
      }))
    }
    case 'entries': {
      const [tenant = '?', log = '?'] =
        db.row<[string, string]>('SELECT tenant, log FROM logs WHERE key = ?', number('log')) ?? []
      const name = `${log} ${number('last') - number('count') + 1} to ${number('last')}`
      return [{ what: 'log', tenant, name, count: number('count') }]
    }
    default:
      return [
        { what: 'document', tenant: textOf(row.get('tenant')), name: `${table.slice(2)}/${textOf(row.get('id'))}` },
      ]
  }
}

function seriesAt(db: Database, key: number): Pick<LostData, 'tenant' | 'name' | 'metric'> {
  return named(db.row<[string, string, string]>('SELECT tenant, resource, metric FROM series WHERE key = ?', key))
}

function streamAt(db: Database, key: number): Pick<LostData, 'tenant' | 'name' | 'metric'> {
  return named(db.row<[string, string, string]>('SELECT tenant, resource, stream FROM streams WHERE key = ?', key))
}

function named(row: readonly [string, string, string] | undefined): Pick<LostData, 'tenant' | 'name' | 'metric'> {
  const [tenant = '?', name = '?', metric = '?'] = row ?? []
  return { tenant, name, metric }
}

/** First and last time of each; most of the block may be intact. */
function spansOf(
  numbers: Float64Array,
  width: number,
  time: number,
  keyOf: (numbers: Float64Array, at: number) => number,
): readonly (readonly [key: number, Required<Pick<LostData, 'from' | 'until' | 'count'>>])[] {
  const spans = new Map<number, { from: number; until: number; count: number }>()
  for (let at = 0; at + width <= numbers.length; at += width) {
    const moment = numbers[at + time] ?? 0
    if (!Number.isSafeInteger(moment)) continue
    const key = keyOf(numbers, at)
    const span = spans.get(key) ?? { from: moment, until: moment, count: 0 }
    spans.set(key, span)
    span.from = Math.min(span.from, moment)
    span.until = Math.max(span.until, moment)
    span.count += 1
  }
  return [...spans]
}

function numbersOf(value: SqlValue | undefined): Float64Array {
  if (!(value instanceof Uint8Array)) return new Float64Array()
  const bytes = Uint8Array.from(value)
  return new Float64Array(bytes.buffer, 0, Math.floor(bytes.length / Float64Array.BYTES_PER_ELEMENT))
}

function textOf(value: SqlValue | undefined): string {
  return typeof value === 'string' ? value : '?'
}
