import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../src/index.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import type { Storage, Store } from '../../../src/storage/contract.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { got } from '../support/answer.ts'
import { bench, NOON, type Bench } from './support/bench-of-rules.ts'
import { ONCE, ruleOf, templateOf } from './support/rules.ts'

const DAY = 86_400_000

async function again(disk: MemoryDisk, before: Bench, ms = 0): Promise<Bench> {
  const at = before.clock.now() + ms
  await before.close()
  await before.storage.close()
  const after = await bench({ storage: openMemory({ disk }), firstId: 1000 })
  after.clock.advanceTo(at)
  return after
}

/** Wraps a storage where the sources of tasks cannot be read. */
function withUnreadSources(storage: Storage): Storage {
  const tenant = (id: string): Store => {
    const store = storage.tenant(id)
    return {
      collection: (spec) => {
        const collection = store.collection(spec)
        const get = () => Promise.reject(new AppError('UNAVAILABLE', 'away'))
        return spec.name === 'task_sources' ? { ...collection, get } : collection
      },
      log: (name) => store.log(name),
      series: store.series,
      blobs: store.blobs,
      commit: (writes) => store.commit(writes),
      now: () => store.now(),
    }
  }
  return { ...storage, tenant }
}

describe('after a restart', () => {
  it('running tasks are passed to the runner, and no others', async () => {
    const disk = new MemoryDisk()
    const before = await bench({ storage: openMemory({ disk }) })
    await before.ask('POST', '/api/templates', templateOf())
    await before.ask('POST', '/api/tasks', ruleOf())
    await before.ask('POST', '/api/tasks', ruleOf({ start: false }))
    await before.ask('POST', '/api/tasks', { template: 'overheating', name: 'm', resource: 'x' })
    await before.ask('POST', '/api/tasks/t1/command/restart')
    const after = await again(disk, before)
    expect(after.runner.told.filter((line) => line.startsWith('resume'))).toEqual(['resume t1 2', 'resume t3 1'])
    expect((await after.ask('GET', '/api/tasks/t3')).body).toMatchObject({ status: 'running', template: 'overheating' })
    await after.ask('POST', '/api/data', { resource: 'x', data: { parameterName: 'temperature', value: 99 } })
    expect((await after.ask('GET', '/api/tasks/t3/nodes/hot')).at('mostLikelyState.state')).toBe('HOT')
    await after.close()
  })

  it('a task of a template that was changed meanwhile keeps the old version', async () => {
    const disk = new MemoryDisk()
    const before = await bench({ storage: openMemory({ disk }) })
    await before.ask('POST', '/api/templates', templateOf())
    await before.ask('POST', '/api/tasks', { template: 'overheating', name: 'm', resource: 'x' })
    await before.ask('PUT', '/api/templates/overheating', { name: 'overheating', sensors: ONCE.sensors })
    const after = await again(disk, before)
    const { body } = await after.ask('GET', '/api/tasks/t1?format=simplified')
    expect(got(body, 'network.sensors.0.label')).toBe('hot')
    await after.close()
  })

  it('several thousand tasks are all resumed', async () => {
    const disk = new MemoryDisk()
    const before = await bench({ storage: openMemory({ disk }) })
    for (let i = 0; i < 2500; i++) await before.api.tasks.create(ruleOf())
    const after = await again(disk, before)
    expect(after.runner.told.filter((line) => line.startsWith('resume'))).toHaveLength(2500)
    await after.close()
  })

  it('a task that cannot continue is failed, with the reason', async () => {
    const disk = new MemoryDisk()
    const before = await bench({ storage: openMemory({ disk }) })
    await before.ask('POST', '/api/tasks', ruleOf())
    await before.close()
    await before.storage.close()
    const after = await bench({ storage: openMemory({ disk }), plugs: [] })
    await expect.poll(async () => (await after.ask('GET', '/api/tasks/t1')).at('status')).toBe('failed')
    expect((await after.ask('GET', '/api/tasks/t1')).at('error')).toContain('heat')
    await after.close()
  })

  it('a task whose source cannot be read makes the start fail, and is not marked as failed', async () => {
    const disk = new MemoryDisk()
    const before = await bench({ storage: openMemory({ disk }) })
    await before.ask('POST', '/api/templates', templateOf())
    await before.ask('POST', '/api/tasks', { template: 'overheating', name: 'm', resource: 'x' })
    await before.close()
    await before.storage.close()
    const storage = withUnreadSources(openMemory({ disk }))
    await expect(bench({ storage })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await storage.close()
    const after = await bench({ storage: openMemory({ disk }) })
    expect((await after.ask('GET', '/api/tasks/t1')).at('status')).toBe('running')
    await after.close()
  })

  it('sources that no task uses are deleted after a day, and those in use stay', async () => {
    const disk = new MemoryDisk()
    const before = await bench({ storage: openMemory({ disk }) })
    await before.ask('POST', '/api/templates', templateOf('a'))
    await before.ask('POST', '/api/templates', templateOf('b'))
    await before.ask('POST', '/api/tasks', { template: 'a', name: 'm', resource: 'x', start: false })
    await before.ask('POST', '/api/tasks', { template: 'b', name: 'n', resource: 'x', start: false })
    await before.ask('DELETE', '/api/tasks/t2')
    const count = (rules: Bench) =>
      rules.storage.tenant('acme').collection({ name: 'task_sources', version: 1, fields: {} }).count()
    expect(await count(before)).toBe(2)
    await before.close()
    await before.storage.close()
    const after = await bench({ storage: openMemory({ disk }), clock: new VirtualClock(NOON + 2 * DAY) })
    expect(await count(after)).toBe(1)
    expect((await after.ask('GET', '/api/tasks/t1')).at('network.nodes')).toHaveLength(1)
    await after.close()
  })
})
