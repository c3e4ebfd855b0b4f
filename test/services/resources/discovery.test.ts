/** Tests resources discovered through broker messages. */
import { describe, expect, it } from 'vitest'
import { RESOURCES } from '../../../src/services/resources/resource-record.ts'
import { pluck } from '../support/answer.ts'
import { bench, NOON, type Bench } from './support/bench-of-resources.ts'

const seen = (resource: string, time = NOON, message = { temperature: 1 }) => ({ resource, time, message })
const nextOf = async (reader: AsyncIterator<{ readonly value: unknown }>) => {
  const next = await reader.next()
  return next.done === true ? undefined : next.value.value
}
const heard = async ({ api }: Bench, id: string) => (await api.resources.get(id)).value['lastMessageTimestamp']
const stored = async ({ storage }: Bench, id: string): Promise<unknown> =>
  (await storage.tenant('acme').collection(RESOURCES).get(id))?.value.own['lastMessageTimestamp']

describe('discovery', () => {
  it('creates unknown resources, and reports them with their message', async () => {
    await using resources = await bench()
    const reader = resources.api.changes()
    await resources.service.discover([seen('a'), seen('b'), seen('a', NOON + 5)])
    expect((await resources.api.resources.get('a')).value).toEqual({ id: 'a', lastMessageTimestamp: NOON + 5 })
    expect(await nextOf(reader)).toMatchObject({
      type: 'discovered',
      objectType: 'resource',
      timestamp: NOON,
      resource: { id: 'a' },
      message: { temperature: 1 },
    })
    const { values } = await resources.api.resources.changes('a', {})
    expect([pluck(values, 'change'), pluck(values, 'userId')]).toEqual([['created'], ['system/broker']])
  })

  it('returns synchronously for known resources', async () => {
    await using resources = await bench()
    await resources.service.discover([seen('a')])
    expect(resources.service.discover([seen('a'), seen('a')])).toBeUndefined()
    expect(resources.service.discover([seen('b')])).toBeInstanceOf(Promise)
  })

  it('leaves existing resources unchanged', async () => {
    await using resources = await bench()
    await resources.api.resources.create({ id: 'a', name: 'mine' })
    await resources.service.discover([seen('a')])
    expect((await resources.api.resources.get('a')).value).toEqual({
      id: 'a',
      name: 'mine',
      lastMessageTimestamp: NOON,
    })
    expect((await resources.api.resources.changes('a', {})).total).toBe(1)
  })

  it('creates a resource once for any number of simultaneous messages, on two hosts too', async () => {
    await using one = await bench()
    await using two = await bench({ storage: one.storage, newId: () => `two-${Math.random()}` })
    const ids = Array.from({ length: 300 }, (_, n) => seen(`r${n}`))
    await Promise.all([one, two, one, two, one].map(async ({ service }) => service.discover(ids)))
    expect((await one.api.resources.list({ limit: 0 })).total).toBe(300)
    const changes = await Promise.all(ids.map(({ resource }) => one.api.resources.changes(resource, {})))
    expect(changes.every(({ total }) => total === 1)).toBe(true)
  })

  it('creates a deleted resource again', async () => {
    await using resources = await bench()
    await resources.service.discover([seen('a')])
    await resources.api.resources.remove('a')
    await resources.service.discover([seen('a', NOON + 1)])
    expect((await resources.api.resources.changes('a', {})).total).toBe(3)
  })
})

describe('the last message time of a resource', () => {
  it('is visible immediately and stored later, without a record in the history or a new version', async () => {
    await using resources = await bench()
    await resources.api.resources.create({ id: 'a' })
    await resources.service.discover([seen('a')])
    void resources.service.discover([seen('a', NOON + 7)])
    expect(await heard(resources, 'a')).toBe(NOON + 7)
    expect(await resources.service.lookup('a')).toMatchObject({ lastMessageTimestamp: NOON + 7 })
    expect((await resources.api.resources.list({})).values[0]).toMatchObject({ lastMessageTimestamp: NOON + 7 })
    expect(await stored(resources, 'a')).toBeUndefined()
    resources.sweep()
    await expect.poll(() => stored(resources, 'a')).toBe(NOON + 7)
    expect((await resources.api.resources.get('a')).version).toBe(1)
    expect((await resources.api.resources.changes('a', {})).total).toBe(1)
  })

  it('never decreases', async () => {
    await using resources = await bench()
    await resources.service.discover([seen('a', NOON)])
    void resources.service.discover([seen('a', NOON - 10)])
    expect(await heard(resources, 'a')).toBe(NOON)
  })

  it('is stored when the service stops', async () => {
    const resources = await bench()
    await resources.service.discover([seen('a', NOON)])
    void resources.service.discover([seen('a', NOON + 9)])
    await resources.close()
    expect(await stored(resources, 'a')).toBe(NOON + 9)
  })

  it('is included in the next write of the resource', async () => {
    await using resources = await bench()
    await resources.service.discover([seen('a', NOON)])
    void resources.service.discover([seen('a', NOON + 9)])
    await resources.api.resources.patch('a', { name: 'x' })
    expect(await stored(resources, 'a')).toBe(NOON + 9)
    await resources.api.resources.patch('a', { lastMessageTimestamp: null })
    expect(await heard(resources, 'a')).toBeUndefined()
  })
})
