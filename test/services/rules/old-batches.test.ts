/** Batch operations that a host of the version before jobs left in its store. */
import { expect, it } from 'vitest'
import type { CollectionSpec, Document } from '../../../src/storage/contract.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { bench, NOON } from './support/bench-of-rules.ts'
import { ruleOf } from './support/rules.ts'

interface Batch {
  readonly queueTime: number
  readonly finishedTime?: number
  readonly [more: string]: unknown
}
const BATCHES: CollectionSpec<Batch> = {
  name: 'batches',
  version: 1,
  fields: {
    state: { type: 'text', of: ({ finishedTime }) => (finishedTime === undefined ? 'open' : 'finished') },
    queueTime: { type: 'number', of: ({ queueTime }) => queueTime },
    finishedTime: { type: 'number', of: ({ finishedTime }) => finishedTime },
  },
}
const PARTS: CollectionSpec<Document> = { name: 'batch_parts', version: 1, fields: {} }

it('batches of an older version are shown when they were finished, and go on when not', async () => {
  const disk = new MemoryDisk()
  const before = await bench({ storage: openMemory({ disk }) })
  for (let i = 0; i < 3; i++) await before.api.tasks.create(ruleOf({ start: false }))
  const batches = before.storage.tenant('acme').collection(BATCHES)
  const parts = before.storage.tenant('acme').collection(PARTS)
  const head = { user: 'tester', queueTime: NOON, missing: [], parts: 1 }
  const start = { entity: 'task', action: 'start', description: 'Start tasks filtered by ids=t1,t2,nope' }
  await batches.put('t4', {
    ...head,
    id: 't4',
    operation: start,
    action: { action: 'start' },
    missing: ['nope'],
    done: 1,
    finishedTime: NOON,
  })
  await parts.put('t4/0', { ids: ['t1', 't2'], results: [{ statusCode: 200 }, { statusCode: 400, error: 'no' }] })
  // t1 was deleted before the process died, and nobody had written that down
  const remove = { entity: 'task', action: 'delete', description: 'Remove tasks' }
  await batches.put('t5', { ...head, id: 't5', operation: remove, action: { action: 'delete' }, done: 0 })
  await parts.put('t5/0', { ids: ['t1', 't2'] })
  await before.api.tasks.remove('t1')
  await before.storage.close()

  const after = await bench({ storage: openMemory({ disk }), firstId: 100 })
  const time = new Date(NOON).toISOString()
  expect((await after.ask('GET', '/api/batch/t4')).body).toEqual({
    id: 't4',
    user: 'tester',
    operation: start,
    queueTime: time,
    finishedTime: time,
    results: {
      success: { t1: { statusCode: 200 } },
      failure: { nope: { statusCode: 404, error: 'No task with id nope' }, t2: { statusCode: 400, error: 'no' } },
    },
  })
  await expect.poll(async () => (await after.ask('GET', '/api/batch/t5')).at('finishedTime')).toBe(time)
  expect((await after.ask('GET', '/api/batch/t5')).body).toMatchObject({
    operation: remove,
    queueTime: time,
    results: { success: { t1: { statusCode: 200 }, t2: { statusCode: 200 } }, failure: {} },
  })
  expect(await after.api.tasks.count({})).toBe(1)
  await after.close()
})
