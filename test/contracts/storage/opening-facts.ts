/** What opening again keeps, what a raised specification changes, and what closing ends. */
import { expect } from 'vitest'
import type { CollectionSpec, Document, Storage } from '../../../src/storage/contract.ts'
import { expectCode, type Suite } from './medium.ts'
import { THINGS, COUNTERS, withSamples } from './things.ts'

export function definesOpening(suite: Suite<Storage>): void {
  suite.alone('what was written is there after opening again, versions of what is deleted too', async (opened) => {
    const store = opened.storage.tenant('acme')
    const things = await withSamples(store)
    const gone = await things.put('gone', {})
    await things.delete('gone')
    const before = await things.find({})
    const after = (await opened.reopen()).tenant('acme').collection(THINGS)
    expect(await after.find({})).toEqual(before)
    expect(await after.ids({ where: [{ field: 'tags', op: 'eq', value: 'hot' }] })).toEqual(['a', 'f'])
    expect(await after.put('gone', {}, 'absent')).toBeGreaterThan(gone)
  })

  suite.alone('a raised specification reads all documents of all tenants again', async (opened) => {
    interface Note {
      readonly text: string
    }
    const first: CollectionSpec<Note> = {
      name: 'notes',
      version: 1,
      fields: { text: { type: 'text', of: (note) => note.text } },
    }
    const second: CollectionSpec<Note> = {
      name: 'notes',
      version: 2,
      fields: {
        text: { type: 'text', of: (note) => note.text.toUpperCase() },
        length: { type: 'number', of: (note) => note.text.length },
        words: { type: 'texts', of: (note) => note.text.split(' ') },
      },
    }
    const texts = ['one', 'two words', 'three whole words']
    for (const tenant of ['acme', 'globex']) {
      const notes = opened.storage.tenant(tenant).collection(first)
      await Promise.all(texts.map((text, i) => notes.put(`n${i}`, { text })))
    }
    const again = await opened.reopen()
    for (const tenant of ['globex', 'acme']) {
      const notes = again.tenant(tenant).collection(second)
      expect(await notes.ids({ sort: [{ field: 'length', descending: true }] })).toEqual(['n2', 'n1', 'n0'])
      expect(await notes.ids({ where: [{ field: 'words', op: 'eq', value: 'words' }] })).toEqual(['n1', 'n2'])
      expect(await notes.ids({ where: [{ field: 'text', op: 'eq', value: 'ONE' }] })).toEqual(['n0'])
      expect(await notes.get('n0')).toEqual({ id: 'n0', version: 1, value: { text: 'one' } })
      expect(await notes.put('n0', { text: 'four' }, 1)).toBe(2)
    }
    const third = await opened.reopen()
    expect(
      await third
        .tenant('acme')
        .collection(second)
        .count([{ field: 'length', op: 'gt', value: 3 }]),
    ).toBe(3)
  })

  suite.alone('a specification below the stored one is STORE: something newer wrote the data', async (opened) => {
    await opened.storage
      .tenant('acme')
      .collection({ ...THINGS, version: 2 })
      .put('x', {})
    const again = await opened.reopen()
    await expectCode(() => again.tenant('acme').collection(THINGS).get('x'), 'STORE')
    await expectCode(() => again.tenant('acme').collection(THINGS).put('x', {}), 'STORE')
  })

  suite.alone('after close everything is CLOSED, and a second close is quiet', async ({ storage }) => {
    const store = storage.tenant('acme')
    const things = store.collection<Document>(COUNTERS as never)
    const log = store.log('inputs')
    await storage.close()
    await storage.close()
    const acts: readonly (() => unknown)[] = [
      () => things.get('x'),
      () => things.getMany(['x']),
      () => things.find({}),
      () => things.ids({}),
      () => things.count(),
      () => things.countBy('count'),
      () => things.put('x', {}),
      () => things.delete('x'),
      () => store.commit([things.putting('x', {})]),
      () => log.append([1]),
      () => log.read(0),
      () => log.bounds(),
      () => log.trim(1),
      () => store.series.append({ samples: [{ resource: 'r', metric: 'm', time: 1, value: 1 }] }),
      () => store.series.range({ resources: ['r'], metric: 'm' }),
      () => store.series.latest('r'),
      () => store.series.messages({ resource: 'r', stream: 's' }),
      () => store.series.applied('inputs'),
      () => store.series.expire(1),
      () => storage.tenant('acme').collection(THINGS).get('x'),
      () => storage.tenants(),
      () => store.now(),
    ]
    for (const act of acts) await expectCode(act, 'CLOSED', String(act))
  })

  suite.alone('STORE-7: all tenants are told one time, which goes on', async ({ storage }, clock) => {
    const [acme, globex] = [storage.tenant('acme'), storage.tenant('globex')]
    const first = await acme.now()
    expect(Number.isInteger(first.ms)).toBe(true)
    // A medium that several hosts share has its own clock, independent of the host's clock.
    expect(first.ms === clock.now).toBe(first.session !== undefined)
    clock.now += 0.5
    const second = await globex.now()
    expect(second.ms).toBeGreaterThanOrEqual(first.ms)
    expect(second.session).toBe(first.session)
    clock.now += 60_000
    const third = await acme.now()
    expect(third.ms).toBeGreaterThanOrEqual(first.session === undefined ? second.ms : second.ms + 60_000)
    expect(Number.isInteger(third.ms)).toBe(true)
  })

  suite.alone('a session is that of one opening, and there is none where hosts share a medium', async (opened) => {
    const before = await opened.storage.tenant('acme').now()
    const after = await (await opened.reopen()).tenant('acme').now()
    if (before.session === undefined) expect(after.session).toBe(undefined)
    else expect([typeof after.session, after.session === before.session]).toEqual(['string', false])
  })

  suite.alone('close waits for what was handed over', async (opened) => {
    const things = opened.storage.tenant('acme').collection(THINGS)
    const putting = Promise.all(Array.from({ length: 50 }, (_, size) => things.put(`t${size}`, { size })))
    await opened.storage.close()
    await putting
    expect(await (await opened.reopen()).tenant('acme').collection(THINGS).count()).toBe(50)
  })

  suite.alone('tenants are those that stored something, by name', async ({ storage }) => {
    expect(await storage.tenants()).toEqual([])
    storage.tenant('nothing').collection(THINGS)
    await storage.tenant('b-doc').collection(THINGS).put('x', {})
    await storage.tenant('a-log').log('inputs').append([1])
    await storage.tenant('B-series').series.append({ samples: [{ resource: 'r', metric: 'm', time: 1, value: 1 }] })
    await storage.tenant('c-blob').blobs.put('x', new Uint8Array([1]))
    expect(await storage.tenants()).toEqual(['B-series', 'a-log', 'b-doc', 'c-blob'])
  })

  suite.alone('the figures count commits and leave nothing queued', async ({ storage }) => {
    expect(storage.stats()).toMatchObject({ queued: 0 })
    const before = storage.stats().commits
    const things = storage.tenant('acme').collection(THINGS)
    await things.put('x', {})
    await things.put('y', {})
    const { queued, commits, lastCommitMs } = storage.stats()
    expect([queued, commits - before >= 2, lastCommitMs >= 0]).toEqual([0, true, true])
  })
}
