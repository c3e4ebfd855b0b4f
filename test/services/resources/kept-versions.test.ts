/** Tests that writers use cached versions; a write of another host on the same store is detected by the version. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MemoryTable } from '../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { bench, type Bench } from './support/bench-of-resources.ts'

let storage: Storage
let one: Bench
let other: Bench
beforeEach(async () => {
  storage = openMemory()
  let id = 0
  const newId = (): string => `${++id}`.padStart(8, '0')
  one = await bench({ storage, newId })
  other = await bench({ storage, newId })
  await one.api.resources.create({ id: 'r', a: 1, b: 1 })
})
afterEach(async () => {
  await one.close()
  await other.close()
})

describe('a resource that another host changed', () => {
  it('is patched over that change', async () => {
    await other.api.resources.patch('r', { a: 2 })
    await one.api.resources.patch('r', { b: 2 })
    expect((await one.api.resources.get('r')).value).toEqual({ id: 'r', a: 2, b: 2 })
    expect(await one.api.resources.changes('r', {})).toMatchObject({ total: 3 })
  })

  it('has the version of that change, also for `ifVersion`', async () => {
    const { version } = await other.api.resources.patch('r', { a: 2 })
    await expect(one.api.resources.patch('r', { b: 2 }, { ifVersion: version - 1 })).rejects.toMatchObject({
      code: 'PRECONDITION',
    })
    expect(await one.api.resources.patch('r', { b: 2 }, { ifVersion: version })).toMatchObject({
      value: { a: 2, b: 2 },
      version: version + 1,
    })
  })

  it('can be created again after that host deleted it, and not after it created it', async () => {
    await other.api.resources.remove('r')
    await one.api.resources.create({ id: 'r', c: 1 })
    await expect(other.api.resources.create({ id: 'r' })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect((await other.api.resources.get('r')).value).toEqual({ id: 'r', c: 1 })
  })
})

describe('a write', () => {
  it('uses the cached version of the previous write without reading it', async () => {
    const reads = vi.spyOn(MemoryTable.prototype, 'get')
    await other.api.resources.patch('r', { a: 2 })
    reads.mockClear()
    const { version } = await other.api.resources.patch('r', { a: 3 })
    // only the commit reads: the resource and its version log
    expect(reads).toHaveBeenCalledTimes(2)
    reads.mockRestore()
    expect(await other.api.resources.get('r')).toMatchObject({ version, value: { a: 3 } })
  })

  it('that cannot affect tasks is not reported to followers of tasks', async () => {
    const log = storage.tenant('acme').log('resources')
    const before = await log.bounds()
    await one.api.resources.patch('r', { a: 2 })
    expect(await log.bounds()).toEqual(before)
    await one.api.resources.patch('r', { resourceTypeId: 't' })
    expect((await log.bounds()).last).toBe(before.last + 1)
  })
})
