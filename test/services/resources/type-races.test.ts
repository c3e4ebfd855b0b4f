/** Tests types that change while their resources are written, and while the store is unavailable. */
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { heldCommits, othersGoOn } from '../../support/held-commits.ts'
import { bench, type Bench } from './support/bench-of-resources.ts'

const WIDTH = { name: 'width', required: true, type: { type: 'numeric', maximum: 10 } }

const constraintsOf = async ({ api }: Bench) => (await api.types.get('door')).value['$constraints']

async function narrowDoors(b: Bench): Promise<string> {
  await b.api.types.create({ id: 'door' })
  return (await b.api.constraints.create({ name: 'narrow', attributes: [WIDTH] })).id
}

describe('a constraint that is added to a type during a write of a resource', () => {
  it.each([['of the type already', true] as const, ['new to it', false] as const])(
    'checks the resource, which is %s',
    async (_how, isThere) => {
      const { storage, holdNext } = heldCommits(openMemory())
      await using b = await bench({ storage })
      const constraint = await narrowDoors(b)
      if (isThere) await b.api.resources.create({ id: 'north', resourceTypeId: 'door', width: 1 })
      const held = holdNext()
      const written = b.api.resources.replace('north', { resourceTypeId: 'door', width: 20 })
      await held.reached
      const changed = b.api.types.patch('door', { $constraints: [constraint] })
      await othersGoOn()
      held.go()
      await Promise.all([written, changed])
      await expect.poll(() => b.service.gauges().openOperations).toBe(0)
      expect(await constraintsOf(b)).toMatchObject([{ status: 'failed', errors: [{ resources: ['north'] }] }])
    },
  )

  it('checks the resource also when the constraint itself is changed', async () => {
    const { storage, holdNext } = heldCommits(openMemory())
    await using b = await bench({ storage })
    const constraint = await narrowDoors(b)
    await b.api.types.patch('door', { $constraints: [constraint] })
    const held = holdNext()
    const written = b.api.resources.create({ id: 'north', resourceTypeId: 'door', width: 5 })
    await held.reached
    const narrower = { ...WIDTH, type: { ...WIDTH.type, maximum: 3 } }
    const changed = b.api.constraints.replace(constraint, { name: 'narrower', attributes: [narrower] })
    const outcome = changed.then(
      () => 'replaced',
      ({ code }: AppError) => code,
    )
    await othersGoOn()
    held.go()
    await written
    expect(await outcome).toBe('WRONG_STATUS')
  })
})

describe('a write of a type', () => {
  it('does not wait for that of another type', async () => {
    const { storage, holdNext } = heldCommits(openMemory())
    await using b = await bench({ storage })
    const held = holdNext()
    const first = b.api.types.create({ id: 'door' })
    await held.reached
    expect(await b.api.types.create({ id: 'window' })).toMatchObject({ value: { id: 'window' } })
    held.go()
    await first
  })

  it('keeps its constraint from being removed meanwhile', async () => {
    const { storage, holdNext } = heldCommits(openMemory())
    await using b = await bench({ storage })
    const constraint = await narrowDoors(b)
    const held = holdNext()
    const applied = b.api.types.patch('door', { $constraints: [constraint] })
    await held.reached
    const removed = b.api.constraints.remove(constraint).then(
      () => 'removed',
      ({ code }: AppError) => code,
    )
    await othersGoOn()
    held.go()
    await applied
    expect(await removed).toBe('WRONG_STATUS')
  })
})

// Holds TYPEWORK-2
describe('a change of a type during an operation', () => {
  it('keeps its constraint when the operation ends', async () => {
    const { storage, holdNext } = heldCommits(openMemory())
    await using b = await bench({ storage })
    const constraint = await narrowDoors(b)
    await b.api.resources.create({ id: 'north', resourceTypeId: 'door', width: 1 })
    const change = holdNext()
    const changed = b.api.types.patch('door', { name: 'Door' })
    await change.reached
    const operation = holdNext()
    change.go()
    await changed
    await operation.reached
    // no resource has the type now, so the change needs no operation
    await b.api.resources.remove('north', {})
    await b.api.types.patch('door', { $constraints: [constraint] })
    operation.go()
    await expect.poll(() => b.service.gauges().openOperations).toBe(0)
    expect(await constraintsOf(b)).toEqual([{ constraintId: constraint, status: 'ineffect' }])
    await expect.poll(async () => (await b.api.types.get('door')).value).not.toHaveProperty('$bulkOperation')
  })
})

// Holds TYPEWORK-3
describe('the operation over the resources of a type', () => {
  it('is retried after the store was unavailable', async () => {
    const inner = openMemory()
    const away = { is: false }
    const later: (() => void)[] = []
    await using b = await bench({
      storage: awayWhen(away, inner),
      later: (ms, work) => {
        // other timers wait for something else
        if (ms !== 10_000) return () => undefined
        later.push(work)
        return () => later.splice(later.indexOf(work), 1)
      },
    })
    const constraint = await narrowDoors(b)
    await b.api.types.patch('door', { $constraints: [constraint] })
    await b.api.resources.create({ id: 'north', resourceTypeId: 'door', width: 1 })
    const asked = b.api.types.revalidate('door')
    away.is = true
    await asked
    await expect.poll(() => b.service.gauges().openOperations).toBe(0)
    expect(later).toHaveLength(1)
    away.is = false
    expect(await constraintsOf(b)).toMatchObject([{ status: 'applying' }])
    for (const work of later.splice(0)) work()
    await expect.poll(() => constraintsOf(b)).toMatchObject([{ status: 'ineffect' }])
  })
})

/** Wraps a storage whose walks over resources fail while it is away. */
function awayWhen(away: { is: boolean }, inner: Storage): Storage {
  const { storage } = heldCommits(inner)
  return {
    ...storage,
    tenant: (id) => {
      const store = storage.tenant(id)
      return {
        ...store,
        collection: (spec) => {
          const collection = store.collection(spec)
          return new Proxy(collection, {
            get: (target, name: keyof typeof collection) => {
              if (name === 'find' && away.is) throw new AppError('UNAVAILABLE', 'the store is unavailable')
              const member: unknown = target[name]
              return typeof member === 'function' ? (member.bind(target) as unknown) : member
            },
          })
        },
      }
    },
  }
}
