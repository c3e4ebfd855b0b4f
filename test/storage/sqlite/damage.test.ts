/** Tests that bytes changed by the disk are detected when read, and never served. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CollectionSpec, Sample, Store, StoredMessage } from '../../../src/storage/contract.ts'
import { DamageWatch } from '../../../src/storage/damage.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { failureOf } from '../../contracts/storage/medium.ts'
import { temporaryFolder } from './sqlite-medium.ts'

const NOTES: CollectionSpec<{ readonly text: string }> = {
  name: 'notes',
  version: 1,
  fields: { text: { type: 'text', of: ({ text }) => text } },
}

let folder = ''
beforeAll(() => {
  folder = temporaryFolder()
})
afterAll(() => rmSync(folder, { recursive: true }))

const samples = (count: number, value: (i: number) => Sample['value'], expires?: number): readonly Sample[] =>
  Array.from({ length: count }, (_, i) => ({
    resource: 'boiler',
    metric: 'heat',
    time: i * 1_000,
    value: value(i),
    ...(expires !== undefined && { expires }),
  }))
const messages = (count: number): readonly StoredMessage[] =>
  Array.from({ length: count }, (_, i) => ({ resource: 'boiler', stream: 'events', time: i, body: { heat: i } }))
const range = (store: Store) => store.series.range({ resources: ['boiler'], metric: 'heat' })
const read = (store: Store) => store.series.messages({ resource: 'boiler', stream: 'events' })

interface Place {
  readonly file: 'state.db' | 'series.db'
  readonly write: (store: Store) => Promise<unknown>
  /** Must have a stable result before the damage, and reject after it */
  readonly read: (store: Store) => Promise<unknown>
  readonly table: string
  readonly columns: readonly string[]
  readonly named: string
}

const put = async (store: Store) => store.collection(NOTES).put('a', { text: 'boil it' })
const document = {
  file: 'state.db',
  write: put,
  table: 'c_notes',
  columns: ['body', 'version'],
  named: 'notes/a',
} as const

const PLACES: readonly (readonly [string, Place])[] = [
  ['a document that is read by its id', { ...document, read: (store) => store.collection(NOTES).get('a') }],
  ['a document among several', { ...document, read: (store) => store.collection(NOTES).getMany(['b', 'a']) }],
  ['a document that is found', { ...document, read: (store) => store.collection(NOTES).find({}) }],
  [
    'an entry of a log',
    {
      file: 'state.db',
      write: (store) => store.log('inputs').append(['one', 'two']),
      read: (store) => store.log('inputs').read(0),
      table: 'entries',
      columns: ['bodies', 'count'],
      named: 'log inputs',
    },
  ],
  [
    'samples that arrived lately',
    {
      file: 'series.db',
      write: (store) => store.series.append({ samples: samples(5, (i) => (i === 3 ? 'hot' : i)) }),
      read: range,
      table: 'arrivals',
      columns: ['samples', 'words'],
      named: 'recent samples',
    },
  ],
  [
    'samples of a chunk',
    {
      file: 'series.db',
      write: (store) => store.series.append({ samples: samples(40, (i) => (i % 2 === 0 ? 'hot' : i)) }),
      read: range,
      table: 'chunks',
      columns: ['samples', 'words', 'count', 'form'],
      named: 'heat of boiler (tenant acme) from 1970-01-01T00:00:00.000Z to 1970-01-01T00:00:07.000Z',
    },
  ],
  [
    'a few numbers',
    {
      file: 'series.db',
      write: (store) => store.series.append({ samples: samples(1, () => 4.5, 9e14) }),
      read: range,
      table: 'chunks',
      columns: ['samples', 'first', 'small'],
      named: 'heat of boiler (tenant acme) from ',
    },
  ],
  [
    'a text',
    {
      file: 'series.db',
      write: (store) => store.series.append({ samples: samples(1, () => 'wärm') }),
      read: range,
      table: 'chunks',
      columns: ['words'],
      named: 'heat of boiler (tenant acme) from ',
    },
  ],
  [
    'recent messages',
    {
      file: 'series.db',
      write: (store) => store.series.append({ messages: messages(3) }),
      read,
      table: 'message_blocks',
      columns: ['streams', 'times', 'ends', 'bodies', 'count'],
      named: 'recent messages',
    },
  ],
  [
    'messages of rows',
    {
      file: 'series.db',
      write: (store) => store.series.append({ messages: messages(60) }),
      read,
      table: 'messages',
      columns: ['body', 'time'],
      named: 'boiler/events (tenant acme)',
    },
  ],
]

/** Returns the value with one bit changed. */
function flip(value: unknown): string | number | Uint8Array {
  if (typeof value === 'string') return value.replace(/[a-z0-9]/, (one) => String.fromCharCode(one.charCodeAt(0) ^ 1))
  if (typeof value === 'number') return value + 1
  const bytes = Uint8Array.from(value as Uint8Array)
  bytes[0] = (bytes[0] ?? 0) ^ 4
  return bytes
}

describe.each(PLACES)('%s', (name, { file, write, read: ask, table, columns, named }) => {
  it('is rejected, logged and counted when anything of it is not as it was written', async () => {
    const own = join(folder, name)
    const options = { foldAt: table === 'arrivals' ? 1e9 : 1, chunk: table === 'chunks' ? 8 : 1_024, waiting: 50 }
    const lines: string[] = []
    const damage = new DamageWatch({ error: (line) => void lines.push(line) })
    const open = () => openSqlite({ folder: own, blobs: openMemoryBlobs(), clock: () => 0, damage, ...options })
    let storage = await open()
    await write(storage.tenant('acme'))
    await expect.poll(() => rowsOf(join(own, file), table), { timeout: 20_000 }).toBeGreaterThan(0)
    expect(JSON.stringify(await ask(storage.tenant('acme')))).not.toMatch(/^(\[\]|null)$/)
    await storage.close()
    for (const column of columns) {
      const db = new DatabaseSync(join(own, file))
      const [row] = db.prepare(`SELECT ${column} AS value, sum FROM ${table}`).all()
      const set = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE sum = ?`)
      set.run(flip(row?.['value']), row?.['sum'] ?? null)
      storage = await open()
      const error = await failureOf(() => ask(storage.tenant('acme')))
      await storage.close()
      set.run(row?.['value'] ?? null, row?.['sum'] ?? null)
      db.close()
      expect(error, column).toMatchObject({ code: 'DAMAGED', message: expect.stringContaining(named) as string })
      expect(lines).toContain(`the store is damaged: ${error.message}`)
    }
    expect(damage.count).toBe(columns.length)
    expect(damage.trouble).toContain(`The store is damaged (${columns.length} reads failed): `)
  })
})

function rowsOf(file: string, table: string): number {
  const db = new DatabaseSync(file, { readOnly: true })
  const [row] = db.prepare(`SELECT count(*) AS count FROM ${table}`).all()
  db.close()
  return Number(row?.['count'])
}
