import { describe, expect, it } from 'vitest'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { bench, type Bench } from './support/bench-of-resources.ts'
import { textOf } from '../support/answer.ts'
import { KeptTasks } from './managed-tasks/support/kept-tasks.ts'

type Working = Bench & { readonly tasks: KeptTasks }

async function working(disk = new MemoryDisk(), tasks = new KeptTasks()): Promise<Working> {
  const timers = (ms: number, work: () => void) => {
    // failed work would be retried after a minute, which never passes here
    if (ms > 10_000) return () => undefined
    const timer = setTimeout(work, 1)
    return () => clearTimeout(timer)
  }
  return { ...(await bench({ storage: openMemory({ disk }), managedTasks: tasks, later: timers })), tasks }
}

async function linked(count: number, b: Working): Promise<Working> {
  await b.api.types.create({ id: 'pump' })
  for (let n = 0; n < count; n++) await b.api.resources.create({ id: `p${n}`, resourceTypeId: 'pump' })
  await b.service.idle()
  return b
}

const templates = [{ templateName: 't' }]
const busyWith = async (b: Bench) => (await b.api.types.get('pump')).value['$bulkOperation']

// Holds TYPEWORK-2
describe('the operation over the resources of a type', () => {
  it('is named in the response to the change, can be read, and ends when all tasks exist', async () => {
    await using b = await linked(5, await working())
    const { value } = await b.api.types.patch('pump', { templates })
    const id = textOf(value['$bulkOperation'])
    const before = await b.api.operations.get(id)
    expect(before).toMatchObject({ id, user: 'tester', operation: { entity: 'resourcetype', action: 'update' } })
    expect(before).not.toHaveProperty('finishedTime')
    await expect.poll(() => busyWith(b)).toBeUndefined()
    expect(b.tasks.kept.size).toBe(5)
    await expect
      .poll(() => b.api.operations.get(id))
      .toMatchObject({
        finishedTime: '2026-11-20T12:00:00.000Z',
        progress: { done: 5, total: 5 },
        results: { success: { pump: { statusCode: 204 } }, failure: {} },
      })
  })

  it('reports templates whose tasks could not be created, and creates them when the template exists', async () => {
    await using b = await linked(3, await working())
    b.tasks.missingTemplates.add('t')
    const { value } = await b.api.types.patch('pump', { templates })
    const id = textOf(value['$bulkOperation'])
    await expect
      .poll(() => b.api.operations.get(id))
      .toMatchObject({
        results: { failure: { t: { statusCode: 400, error: 'No template with name t (3 resources)' } } },
      })
    expect(b.service.gauges().upkeepWaiting).toBe(3)
    b.tasks.missingTemplates.delete('t')
    b.service.templateWritten('other')
    await b.service.idle()
    expect(b.tasks.kept.size).toBe(0)
    b.service.templateWritten('t')
    await b.service.idle()
    expect([b.tasks.kept.size, b.service.gauges().upkeepWaiting]).toEqual([3, 0])
  })

  it('of several successive changes all end', async () => {
    await using b = await linked(20, await working())
    const ids: string[] = []
    for (const templateName of ['t', 'u', 'v']) {
      const { value } = await b.api.types.patch('pump', { templates: [{ templateName }], name: templateName })
      ids.push(textOf(value['$bulkOperation']))
    }
    for (const id of ids) {
      await expect.poll(() => b.api.operations.get(id)).toHaveProperty('finishedTime')
    }
    await b.service.idle()
    expect(new Set([...b.tasks.kept.values()].map(({ templateName }) => templateName))).toEqual(new Set(['v']))
    expect(b.tasks.kept.size).toBe(20)
    await expect.poll(() => busyWith(b)).toBeUndefined()
  })

  it('resumes after a restart', async () => {
    const disk = new MemoryDisk()
    const first = await linked(5, await working(disk))
    const { value } = await first.api.types.patch('pump', { templates })
    const id = textOf(value['$bulkOperation'])
    await first.close()
    await first.storage.close()
    await using again = await working(disk, first.tasks)
    await expect.poll(() => again.api.operations.get(id)).toHaveProperty('finishedTime')
    await again.service.idle()
    expect(first.tasks.kept.size).toBe(5)
  })
})
