/** Logs that are not as they should be: damaged in the middle, too large, on a full disk, far ahead of a reader. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it } from 'vitest'
import { AppError } from '../../src/kernel/errors.ts'
import { Feed } from '../../src/kernel/feed.ts'
import { KEPT_EVENTS, LOG_NAME, messageBody } from '../../src/log/message-entry.ts'
import { TenantLog } from '../../src/log/tenant-log.ts'
import type { BrokerMessage } from '../../src/services/broker/contract.ts'
import { createBrokerService } from '../../src/services/broker/service.ts'
import { ResumedReader } from '../../src/services/broker/streams/resumed-reader.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { rebuildFile } from '../../src/storage/sqlite/rebuild.ts'
import { Life, Outside, runnableOf, TENANT } from '../services/rules/durable/support/lives.ts'

const folder = mkdtempSync(join(tmpdir(), 'reflexarc-log-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const RULE = {
  sensors: [{ label: 'level', name: 'level', version: '1.0.0', resource: '$' }],
  task: { type: 'reactive' as const },
}

it('a damaged unit in the middle keeps broker and tasks from starting, by name; once repaired, those around it count', async () => {
  const open = () => openSqlite({ folder, blobs: openMemoryBlobs() })
  const before = await open()
  const log = new TenantLog(before.tenant(TENANT))
  for (const level of [1, 2, 3]) {
    const message = { resource: 'r', level, timestamp: level }
    const input = { k: 'data', m: message, at: level }
    const body = messageBody({ messages: message, kept: KEPT_EVENTS }, { at: level })
    await log.add({ entries: [{ body, input }] })
  }
  await before.close()
  const database = new DatabaseSync(join(folder, 'state.db'))
  database.exec(`UPDATE entries SET bodies = replace(bodies, '"level":2', '"level":9')`)
  database.close()

  const damaged = await open()
  const brokerOn = (one: typeof damaged) =>
    createBrokerService({ tenant: TENANT, store: one.tenant(TENANT), now: () => 10 })
  const refusal = { code: 'DAMAGED', message: expect.stringContaining('around its entry 2') as string }
  await expect(brokerOn(damaged).start()).rejects.toMatchObject(refusal)
  const life = new Life(damaged, new Outside(), { at: 10 })
  await expect(life.begin(runnableOf('a', RULE, { resource: 'r' }))).rejects.toMatchObject(refusal)
  await damaged.close()

  const aside = join(folder, 'aside')
  rebuildFile(join(folder, 'state.db'), 'state.db', aside)
  const repaired = await open()
  const broker = brokerOn(repaired)
  await broker.start()
  const { series } = repaired.tenant(TENANT)
  expect((await series.range({ resources: ['r'], metric: 'level' })).map(({ value }) => value)).toEqual([1, 3])
  await broker.stop()
  const goesOn = new Life(repaired, new Outside(), { at: 10 })
  await goesOn.begin(runnableOf('a', RULE, { resource: 'r' }))
  expect(await goesOn.send('r', { level: 4 })).toBe(true)
  await goesOn.runner.close()
  await repaired.close()
})

it('a unit that is larger than an entry may be is refused whole, and those behind it are not', async () => {
  const store = openMemory().tenant(TENANT)
  const log = new TenantLog(store)
  const entries = ['x', 'x'.repeat(2_000_000)].map((text) => ({ body: { k: 'data', text } }))
  const refused = log.add({ entries })
  const next = log.add({ entries: [{ body: { k: 'data' } }] })
  await expect(refused).rejects.toMatchObject({ code: 'TOO_LARGE' })
  await next
  expect(await log.log.bounds()).toEqual({ first: 1, last: 1 })
})

it('a disk that fills during a checkpoint costs nothing: the log is kept until states can be stored', async () => {
  const storage = openMemory()
  let isFull = false
  const store = storage.tenant(TENANT)
  const commit = store.commit.bind(store)
  store.commit = async (writes) => {
    if (isFull && writes.some(({ kind }) => kind === 'put')) throw new AppError('STORE', 'no room')
    return commit(writes)
  }
  storage.tenant = () => store
  const life = new Life(storage, new Outside(), { checkpointMs: 10 })
  await life.begin(runnableOf('a', RULE, { resource: 'r' }))
  isFull = true
  await life.send('r', { level: 12 })
  await life.to(500)
  await life.runner.close()
  expect((await store.log(LOG_NAME).bounds()).first).toBe(1)
  isFull = false
  const after = new Life(storage, new Outside(), { at: 100_000 })
  await after.runner.resume([runnableOf('a', RULE, { resource: 'r' })])
  expect(after.runner.nodes.view('a', 'level')[0]?.rawData).toMatchObject({ level: 12 })
  // inputs are kept after an hour
  await after.to(4_000_000)
  await after.runner.close()
  expect((await store.log(LOG_NAME).bounds()).first).toBeGreaterThan(1)
})

it('a reader that is a million units behind begins again, and is notified that it missed some', async () => {
  const feed = new Feed<BrokerMessage>({ kept: 1, keptTopics: 1 })
  const log = {
    ...openMemory().tenant(TENANT).log(LOG_NAME),
    bounds: async () => ({ first: 1, last: 1_000_001 }),
    read: () => Promise.reject(new Error('it is not read')),
  }
  const signal = new AbortController().signal
  const since = { position: 1, count: 1 }
  const reader = new ResumedReader(feed.read({ signal }), { log, since, channel: 'events', resource: undefined })
  await reader.ready
  expect(reader.missed).toBe(true)
  feed.publish('r', { timestamp: 1, n: 1 })
  expect((await reader.next()).value).toMatchObject({ topic: 'r', value: { n: 1 } })
  await reader.return()
})
