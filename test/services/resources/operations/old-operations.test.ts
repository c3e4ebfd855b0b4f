/** Bulk operations that a host of the version before jobs left in its store, beside walks, which stay. */
import { expect, it } from 'vitest'
import { OPERATIONS } from '../../../../src/services/resources/operations/operation-record.ts'
import { plannedWalk } from '../../../../src/services/resources/managed-tasks/type-walks.ts'
import { createBackgroundWork } from '../../../../src/services/resources/managed-tasks/create-background-work.ts'
import type { CollectionSpec, Document } from '../../../../src/storage/contract.ts'
import { MemoryDisk } from '../../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { bench, NOON } from '../support/bench-of-resources.ts'

const PARTS: CollectionSpec<Document> = { name: 'resource_operation_parts', version: 1, fields: {} }

it('operations of an older version are shown when they were finished, and go on when not', async () => {
  const disk = new MemoryDisk()
  const before = await bench({ storage: openMemory({ disk }) })
  for (const id of ['a', 'b', 'c']) await before.api.resources.create({ id })
  const operations = before.storage.tenant('acme').collection(OPERATIONS)
  const parts = before.storage.tenant('acme').collection(PARTS)
  const remove = { entity: 'resource', action: 'delete' } as const
  const patch = { entity: 'resource', action: 'patchOrInsert' } as const
  const head = { kind: 'list', user: 'tester', queueTime: NOON, parts: 1, done: 0 } as const
  const removing = { ...remove, description: 'deleting 3 resources' }
  const patching = { ...patch, description: 'updating or inserting 2 resources' }
  await operations.put('over', {
    ...head,
    id: 'over',
    operation: patching,
    what: patch,
    done: 1,
    finishedTime: NOON + 1,
  })
  await parts.put('over/0', { ids: ['a', 'x'], results: [{ statusCode: 204 }, { statusCode: 400, error: 'no' }] })
  await operations.put('patch', { ...head, id: 'patch', operation: patching, what: patch })
  await parts.put('patch/0', {
    ids: ['a', 'new'],
    bodies: [
      { id: 'a', more: 1 },
      { id: 'new', x: 2 },
    ],
  })
  await operations.put('remove', { ...head, id: 'remove', operation: removing, what: remove, queueTime: NOON - 1 })
  await parts.put('remove/0', { ids: ['b', 'c', 'none'] })
  const walk = { ...plannedWalk('walk', 'pump', 'tester', NOON, 0), finishedTime: NOON + 2 }
  await operations.put('walk', walk)
  // it had come as far as this when the process died, and nobody had written that down
  await before.api.resources.remove('b')
  await before.storage.close()

  const work = createBackgroundWork({ later: () => () => undefined })
  const after = await bench({ storage: openMemory({ disk }), background: [work.make] })
  await work.idle()
  const [queueTime, finishedTime] = [new Date(NOON).toISOString(), new Date(NOON + 1).toISOString()]
  expect(await after.api.operations.get('over')).toEqual({
    id: 'over',
    user: 'tester',
    operation: patching,
    queueTime,
    finishedTime,
    results: { success: { a: { statusCode: 204 } }, failure: { x: { statusCode: 400, error: 'no' } } },
  })
  expect(await after.api.operations.get('patch')).toMatchObject({
    operation: patching,
    results: { success: { a: { statusCode: 204 }, new: { statusCode: 204 } }, failure: {} },
  })
  expect((await after.api.resources.get('a')).value).toEqual({ id: 'a', more: 1 })
  expect(await after.api.operations.get('remove')).toMatchObject({
    results: {
      success: { b: { statusCode: 204 }, c: { statusCode: 204 } },
      failure: { none: { statusCode: 404 } },
    },
  })
  expect(await after.api.operations.get('walk')).toMatchObject({
    progress: { done: 0, total: 0 },
    results: { success: { pump: { statusCode: 204 } }, failure: {} },
  })
  await after.close()
})
