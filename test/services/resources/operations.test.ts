import { describe, expect, it } from 'vitest'
import type { AppError } from '../../../src/kernel/errors.ts'
import { JOB_BATCHES as OPERATION_PARTS, JOBS as OPERATIONS } from '../../../src/jobs/job-record.ts'
import { JobRunner } from '../../../src/jobs/job-runner.ts'
import { machineTimers } from '../../../src/platform/timers.ts'
import type { ResourcesApi } from '../../../src/services/resources/contract.ts'
import { openCollections } from '../../../src/services/resources/collections.ts'
import { operationHandler } from '../../../src/services/resources/operations.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { pluck } from '../support/answer.ts'
import { bench, type Bench } from './support/bench-of-resources.ts'
import { Mortal } from './commands/support/mortal.ts'

async function working(disk = new MemoryDisk()) {
  return { ...(await bench({ storage: openMemory({ disk }), later: () => () => undefined })), disk }
}

async function finished(b: Bench, body: unknown) {
  const { id } = await b.api.operations.queue(body)
  await b.service.idle()
  return b.api.operations.get(id)
}

const remove = (ids: readonly string[], entity = 'resource') => ({ entity, action: 'delete', query: { ids } })

describe('a bulk operation', () => {
  it('deletes in the requested order, and reports the result of each', async () => {
    await using b = await working()
    await b.api.resources.create({ id: 'house' })
    await b.api.resources.create({ id: 'room', parentId: 'house' })
    await b.api.resources.create({ id: 'lone' })
    await b.api.resources.create({ id: 'flat', parentId: 'lone' })
    const status = await finished(b, remove(['room', 'house', 'lone', 'flat', 'nobody', 'flat']))
    expect(status).toEqual({
      id: status['id'],
      user: 'tester',
      operation: { entity: 'resource', action: 'delete', description: 'deleting 5 resources' },
      queueTime: '2026-11-20T12:00:00.000Z',
      finishedTime: '2026-11-20T12:00:00.000Z',
      results: {
        success: { room: { statusCode: 204 }, house: { statusCode: 204 }, flat: { statusCode: 204 } },
        failure: {
          lone: { statusCode: 400, error: 'Resource is still parent of or referenced by 1 resource(s)' },
          nobody: { statusCode: 404, error: 'No resource with id nobody' },
        },
      },
    })
  })

  it('deletes types without uses', async () => {
    await using b = await working()
    await b.api.types.create({ id: 'pump' })
    await b.api.types.create({ id: 'fan' })
    await b.api.resources.create({ id: 'p1', resourceTypeId: 'pump' })
    expect(await finished(b, remove(['pump', 'fan', 'none'], 'resourcetype'))).toMatchObject({
      results: {
        success: { fan: { statusCode: 204 } },
        failure: {
          pump: { statusCode: 400, error: 'Type in use by 1 resource(s)' },
          none: { statusCode: 404, error: 'No type with id none' },
        },
      },
    })
  })

  it('patches resources, and creates missing ones', async () => {
    await using b = await working()
    await b.api.resources.create({ id: 'a', kept: 1, gone: 2 })
    const resources = [
      { id: 'a', gone: null, more: 3 },
      { id: 'b', x: 1 },
      { id: 'c', tags: 'no list' },
    ]
    const status = await finished(b, { entity: 'resource', action: 'patchOrInsert', query: { resources } })
    expect(status).toMatchObject({
      results: { success: { a: { statusCode: 204 }, b: { statusCode: 204 } }, failure: { c: { statusCode: 400 } } },
    })
    expect((await b.api.resources.get('a')).value).toEqual({ id: 'a', kept: 1, more: 3 })
    expect((await b.api.resources.get('b')).value).toEqual({ id: 'b', x: 1 })
  })

  it('writes for many resources what a single request writes', async () => {
    await using b = await working()
    const resources = Array.from({ length: 250 }, (_, i) => ({ id: `r${i}` }))
    await finished(b, { entity: 'resource', action: 'patchOrInsert', query: { resources } })
    const status = await finished(b, remove(resources.map(({ id }) => id)))
    expect(status).toMatchObject({ results: { failure: {} } })
    expect((await b.api.resources.list({})).total).toBe(0)
  })

  it('shows no results while it runs, and an unknown one is reported', async () => {
    await using b = await working()
    const { id } = await b.api.operations.queue(remove(['a']))
    expect(await b.api.operations.get(id)).not.toHaveProperty('results')
    await b.service.idle()
    await expect(b.api.operations.get('other')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: "Operation with id 'other' not found",
    })
  })

  it.each<[string, object, readonly string[]]>([
    ['an action of the other entity', { entity: 'resourcetype', action: 'patchOrInsert' }, ['/action']],
    ['nothing to do it with', { query: {} }, ['/query/ids']],
    ['resources to delete', { query: { ids: ['a'], resources: [{ id: 'a' }] } }, ['/query/resources']],
    [
      'a cascade of types',
      { entity: 'resourcetype', actionParameters: { cascade: ['tasks'] } },
      ['/actionParameters/cascade'],
    ],
    [
      'resources without ids, or one twice',
      { action: 'patchOrInsert', query: { resources: [{}, { id: 'a' }, { id: 'a' }] } },
      ['/query/resources/0/id', '/query/resources'],
    ],
  ])('is rejected for %s', async (_what, more, paths) => {
    await using b = await working()
    const refused: unknown = await b.api.operations
      .queue({ ...remove(['a']), ...more })
      .catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'VALIDATION' })
    expect(pluck((refused as AppError).issues, 'path')).toEqual(paths)
  })

  it('resumes after a crash, and counts what was done before', async () => {
    const b = await working()
    for (const id of ['a', 'b', 'c']) await b.api.resources.create({ id })
    const life = new Mortal()
    const { resources, types } = b.api
    const died = new Promise<void>((resolve) => {
      // the removal is done, but the commit that records it never happens
      const remove: ResourcesApi['resources']['remove'] = async (id) => {
        await resources.remove(id)
        if (id !== 'b') return
        life.kill()
        resolve()
        await new Promise(() => undefined)
      }
      const runner = new JobRunner({
        tenant: 'acme',
        store: life.over(b.storage).tenant('acme'),
        handlers: [operationHandler(() => ({ resources: { ...resources, remove }, types }), undefined)],
        now: () => b.clock.now,
        newId: () => 'never asked',
        timers: { ...machineTimers, later: () => () => undefined },
      })
      const data = { operation: { entity: 'resource', action: 'delete', description: 'deleting 4 resources' } }
      const job = { type: 'resources.operation', id: 'op', user: 'tester', data, items: ['a', 'b', 'c', 'd'] }
      void runner.queue.add(job)
    })
    await died
    await b.storage.close()
    await using again = await working(b.disk)
    await again.service.idle()
    expect(await again.api.operations.get('op')).toMatchObject({
      results: {
        success: { a: { statusCode: 204 }, b: { statusCode: 204 }, c: { statusCode: 204 } },
        failure: { d: { statusCode: 404 } },
      },
    })
  })

  it('is deleted a week after its end', async () => {
    await using b = await working()
    const { id } = await finished(b, remove(['a']))
    b.clock.now += 8 * 86_400_000
    await finished(b, remove(['b']))
    await expect(b.api.operations.get(String(id))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const { store } = openCollections('acme', b.storage.tenant('acme'))
    expect([await store.collection(OPERATIONS).count(), await store.collection(OPERATION_PARTS).count()]).toEqual([
      1, 1,
    ])
  })
})
