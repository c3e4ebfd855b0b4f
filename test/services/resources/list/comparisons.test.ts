/** Tests numbers and texts in listing queries: the same on every medium. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Storage } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { openPostgres } from '../../../../src/storage/postgres/open.ts'
import { openSqlite } from '../../../../src/storage/sqlite/open-sqlite.ts'
import { noBlobs } from '../../../storage/postgres/no-blobs.ts'
import { describeWithPostgres } from '../../../support/postgres-server.ts'
import { bench, type Bench } from '../support/bench-of-resources.ts'

const RESOURCES = [
  { id: '9', lev: 9, lastMessageTimestamp: 9 },
  { id: '010', lev: '9', name: '7' },
  { id: '10', lev: 10.5, lastMessageTimestamp: 10 },
  { id: 'b', lev: '10.50', name: '07' },
  { id: 'c', lev: 'high', on: true },
  { id: 'd', lev: ['8', 100], on: 'true' },
] as const

const CASES: readonly (readonly [query: string, ids: string])[] = [
  ['lev:gt(10)', '10 b d'],
  ['lev:gte(10.5)', '10 b d'],
  ['lev:lt(10)', '010 9 d'],
  ['lev:lte(9)', '010 9 d'],
  ['lev:gt(-1e2)', '010 10 9 b d'],
  ['lev:gt("10")', '010 b c d'],
  ['lev:lt("9")', 'b d'],
  ['lev:gt(h)', 'c'],
  ['lev:9', '010 9'],
  ['lev:9.0', '010 9'],
  ['lev:"9"', '010'],
  ['lev:eq(10.5)', '10 b'],
  ['lev:in(10.5,"9",high)', '010 10 b c'],
  // an id is a text: another spelling of the same number is a different id
  ['id:10', '10'],
  ['id:10 OR lev:gt(1000)', '10'],
  ['id:gt(9)', '010 10'],
  ['name:7', '010'],
  ['lastMessageTimestamp:gt(9)', '10'],
  ['lastMessageTimestamp:gt("8")', ''],
  ['on:true', 'c d'],
  ['on:"true"', 'd'],
]

function comparisons(open: () => Promise<{ storage: Storage; close(): Promise<void> }>): void {
  let medium: Awaited<ReturnType<typeof open>>
  let resources: Bench
  beforeAll(async () => {
    medium = await open()
    resources = await bench({ storage: medium.storage })
    for (const each of RESOURCES) await resources.api.resources.create(each)
  })
  afterAll(async () => {
    await resources.close()
    await medium.storage.close()
    await medium.close()
  })

  it.each(CASES)('%s returns %s', async (query, ids) => {
    const { values } = await resources.api.resources.list({ query })
    expect(values.map(({ id }) => id).join(' ')).toBe(ids)
  })
}

const nothing = async (): Promise<void> => undefined

describe('queries over memory', () => {
  comparisons(async () => ({ storage: openMemory(), close: nothing }))
})

describe('queries over SQLite', () => {
  comparisons(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'comparisons-'))
    return { storage: await openSqlite({ folder, blobs: noBlobs() }), close: () => rm(folder, { recursive: true }) }
  })
})

describeWithPostgres('queries over PostgreSQL', (start) => {
  comparisons(async () => {
    const server = await start()
    return { storage: await openPostgres({ url: server.url, blobs: noBlobs() }), close: () => server.stop() }
  })
})
