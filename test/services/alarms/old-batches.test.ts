/** Batch operations that a host of the version before jobs left in its store. */
import { expect, it } from 'vitest'
import type { CollectionSpec, Document } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { alarmOf, bench, NOON } from './support/bench-of-alarms.ts'

interface Batch {
  readonly queueTime: number
  readonly finishedTime?: number
  readonly [more: string]: unknown
}
const BATCHES: CollectionSpec<Batch> = {
  name: 'alarm_batches',
  version: 1,
  fields: {
    state: { type: 'text', of: ({ finishedTime }) => (finishedTime === undefined ? 'open' : 'finished') },
    queueTime: { type: 'number', of: ({ queueTime }) => queueTime },
    finishedTime: { type: 'number', of: ({ finishedTime }) => finishedTime },
  },
}
const PARTS: CollectionSpec<Document> = { name: 'alarm_batch_parts', version: 1, fields: {} }

it('batches of an older version are shown when they were finished, and go on when not', async () => {
  const storage = openMemory()
  const before = await bench({ storage })
  const ids: string[] = []
  for (const id of ['a', 'b', 'c']) ids.push((await before.api.raise(alarmOf({ source: { id } }))).id)
  const [one = '', two = '', three = ''] = ids
  const batches = storage.tenant('acme').collection(BATCHES)
  const parts = storage.tenant('acme').collection(PARTS)
  const head = { user: 'tester', queueTime: NOON, missing: [], parts: 1, done: 0 }
  await batches.put('over', {
    ...head,
    id: 'over',
    action: { kind: 'delete' },
    description: 'deleting 2 alarms',
    missing: ['none'],
    done: 1,
    finishedTime: NOON + 1,
  })
  await parts.put('over/0', { ids: ['x'], results: [{ statusCode: 204 }] })
  await batches.put('update', {
    ...head,
    id: 'update',
    action: { kind: 'update', change: { status: 'CLEARED' } },
    description: 'updating 2 alarms',
  })
  await parts.put('update/0', { ids: [one, two] })
  await batches.put('delete', { ...head, id: 'delete', action: { kind: 'delete' }, description: 'deleting 2 alarms' })
  await parts.put('delete/0', { ids: [three, 'deleted before the crash'] })
  await before.close()

  const after = await bench({ storage, ids: 'z' })
  await after.service.idle()
  const shown = async (id: string) => (await after.ask('GET', `/batch/${id}`)).json<unknown>()
  expect(await shown('over')).toEqual({
    id: 'over',
    user: 'tester',
    operation: { entity: 'alarm', action: 'delete', description: 'deleting 2 alarms' },
    queueTime: new Date(NOON).toISOString(),
    finishedTime: new Date(NOON + 1).toISOString(),
    results: {
      success: { x: { statusCode: 204 } },
      failure: { none: { statusCode: 404, error: "alarm with id 'none' not found" } },
    },
  })
  expect(await shown('update')).toMatchObject({
    results: { success: { [one]: { statusCode: 200 }, [two]: { statusCode: 200 } }, failure: {} },
  })
  expect(await shown('delete')).toMatchObject({
    results: {
      success: { [three]: { statusCode: 204 }, 'deleted before the crash': { statusCode: 204 } },
      failure: {},
    },
  })
  expect((await after.api.list({ status: 'CLEARED' })).total).toBe(2)
  expect((await after.api.list({})).total).toBe(2)
  await after.close()
})
