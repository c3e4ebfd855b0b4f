/** Conformance of units of work: documents and log entries that commit whole. `describeCommit(name, medium)`. */
import { expect } from 'vitest'
import type { Storage, Write } from '../../../src/storage/contract.ts'
import { describeMedium, expectCode, failureOf, storeFact, type Medium, type Suite } from './medium.ts'
import { COUNTERS, THINGS } from './things.ts'

export function describeCommit(name: string, medium: Medium): void {
  describeMedium(`units of work on ${name}`, medium, definesCommits)
}

function definesCommits(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact('results come by place: versions, last positions, and whether a delete found one', async ({ store, things }) => {
    const counters = store.collection(COUNTERS)
    const log = store.log('inputs')
    await things.put('old', {})
    const { results } = await store.commit([
      things.putting('new', { size: 1 }, 'absent'),
      log.appending(['a', 'b']),
      things.putting('old', { size: 2 }, 1),
      things.deleting('nobody'),
      counters.putting('new', { count: 1 }),
      store.log('outputs').appending(['c']),
      log.appending(['d']),
      things.deleting('old', 2),
    ])
    expect(results).toEqual([1, 2, 2, 0, 1, 1, 3, 1])
    expect(await things.ids({})).toEqual(['new'])
    expect((await log.read(0)).map((entry) => entry.body)).toEqual(['a', 'b', 'd'])
  })

  fact(
    'STORE-6: units that are asked for one after the other are made and answered in that order',
    async ({ store, log }) => {
      const answered: number[] = []
      const commit = async (n: number): Promise<void> => {
        const { results } = await store.commit([log.appending([n])])
        expect(results).toEqual([n])
        answered.push(n)
      }
      const all: Promise<void>[] = []
      for (let n = 1; n <= 200; n++) {
        all.push(commit(n))
        // in bursts, some of which come while others are on their way
        if (n % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      await Promise.all(all)
      expect(answered).toEqual(Array.from({ length: 200 }, (_, i) => i + 1))
      expect((await log.read(0)).map(({ body }) => body)).toEqual(answered)
    },
  )

  fact('S6: units that are refused leave those around them in their order', async ({ store, things, log }) => {
    await things.put('there', { size: 1, tags: [] })
    const answered: number[] = []
    const units = Array.from({ length: 60 }, async (_, n) => {
      // every third meets what is there, and every fifth what one before it has made
      const own = n % 3 === 0 ? [things.putting(n % 5 === 0 ? 'made' : 'there', {}, 'absent')] : []
      const { results } = await store.commit([...own, log.appending([n])])
      answered.push(n)
      return results.at(-1)
    })
    const outcomes = await Promise.allSettled(units)
    const made = Array.from({ length: 60 }, (_, n) => n).filter((n) => n === 0 || n % 3 !== 0)
    expect(answered).toEqual(made)
    expect((await log.read(0)).map(({ body }) => body)).toEqual(made)
    const positions = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(positions).toEqual(made.map((_, i) => i + 1))
  })

  fact('nothing is a unit too', async ({ store }) => {
    expect(await store.commit([])).toEqual({ results: [] })
  })

  fact('writes of a unit see those before them', async ({ store, things }) => {
    const { results } = await store.commit([
      things.putting('x', { size: 1, tags: ['one'] }, 'absent'),
      things.putting('x', { size: 2, tags: ['two'] }, 1),
      things.putting('y', {}, 'absent'),
      things.deleting('y', 1),
      things.deleting('y'),
      things.putting('y', {}, 'absent'),
      things.deleting('y'),
    ])
    const again = results[5] ?? 0
    expect(again).toBeGreaterThan(1)
    expect(results).toEqual([1, 2, 1, 1, 0, again, 1])
    expect(await things.find({})).toEqual([{ id: 'x', version: 2, value: { size: 2, tags: ['two'] } }])
    expect(await things.count([{ field: 'tags', op: 'eq', value: 'one' }])).toBe(0)
    await expectCode(() => store.commit([things.putting('z', {}), things.putting('z', {}, 'absent')]), 'CONFLICT')
    expect(await things.get('z')).toBeUndefined()
  })

  fact('STORE-1: one conflict undoes all, and each conflict is named by its place', async ({ store, things, log }) => {
    await things.put('there', { size: 1, tags: ['kept'] })
    const failure = await failureOf(() =>
      store.commit([
        things.putting('fine', {}),
        things.putting('there', {}, 'absent'),
        log.appending(['lost']),
        things.deleting('there', 5),
        things.putting('gone', {}, 3),
        store.collection(COUNTERS).putting('fine', { count: 1 }),
      ]),
    )
    expect(failure.code).toBe('CONFLICT')
    expect(failure.issues.map(({ path, type, details }) => [path, type, details])).toEqual([
      ['/1', 'CONFLICT', { collection: 'things', id: 'there', expected: 'absent', actual: 1 }],
      ['/3', 'CONFLICT', { collection: 'things', id: 'there', expected: 5, actual: 1 }],
      ['/4', 'CONFLICT', { collection: 'things', id: 'gone', expected: 3, actual: 'absent' }],
    ])
    for (const text of ['things/there', 'things/gone']) expect(failure.message).toContain(text)
    expect(await things.find({})).toEqual([{ id: 'there', version: 1, value: { size: 1, tags: ['kept'] } }])
    expect(await things.ids({ where: [{ field: 'tags', op: 'eq', value: 'kept' }] })).toEqual(['there'])
    expect(await store.collection(COUNTERS).count()).toBe(0)
    expect(await log.bounds()).toEqual({ first: 1, last: 0 })
    expect(await things.put('fine', {})).toBe(1)
  })

  fact('a unit may hang on a document that it does not write', async ({ store, things, log }) => {
    await things.put('lease', { size: 1 })
    await things.put('lease', { size: 2 })
    const under = (version: number) => store.commit([things.expecting('lease', version), log.appending([version])])
    expect(await under(2)).toEqual({ results: [2, 1] })
    for (const version of [1, 3]) {
      const failure = await failureOf(() => under(version))
      expect(failure.code).toBe('CONFLICT')
      expect(failure.issues.map(({ path, details }) => [path, details])).toEqual([
        ['/0', { collection: 'things', id: 'lease', expected: version, actual: 2 }],
      ])
    }
    expect(await things.get('lease')).toEqual({ id: 'lease', version: 2, value: { size: 2 } })
    await things.delete('lease')
    await expectCode(() => under(2), 'CONFLICT')
    await things.put('lease', {})
    await expectCode(() => under(2), 'CONFLICT')
    expect((await log.bounds()).last).toBe(1)
    expect((await store.commit([things.expecting('lease', 3)])).results).toEqual([3])
    for (const wrong of [0, 1.5, Number.NaN]) {
      await expectCode(() => store.commit([things.expecting('lease', wrong)]), 'VALIDATION')
    }
  })

  fact('what a unit expects is found as the writes before it leave it', async ({ store, things }) => {
    await things.put('x', {})
    const { results } = await store.commit([
      things.expecting('x', 1),
      things.putting('x', { size: 1 }, 1),
      things.expecting('x', 2),
      things.deleting('x', 2),
    ])
    expect(results).toEqual([1, 2, 2, 1])
    await expectCode(
      () => store.commit([things.putting('y', {}), things.deleting('y'), things.expecting('y', 1)]),
      'CONFLICT',
    )
    expect(await things.ids({})).toEqual([])
  })

  fact('STORE-1: bad writes are all named at once, and nothing is written', async ({ store, things }) => {
    const failure = await failureOf(() =>
      store.commit([
        things.putting('fine', {}),
        things.putting('', {}),
        things.putting('x', { size: Number.NaN }),
        { kind: 'append', log: 'in puts', bodies: ['a'] },
        things.deleting('y', 0),
        store.log('inputs').appending([]),
      ]),
    )
    expect(failure.code).toBe('VALIDATION')
    const places = new Set(failure.issues.map((issue) => issue.path.split('/')[1]))
    expect([...places]).toEqual(['1', '2', '3', '4', '5'])
    expect(await things.count()).toBe(0)
  })

  fact('units of one turn succeed or fail alone, in the order of the calls', async ({ store, things }) => {
    const settled = await Promise.allSettled([
      store.commit([things.putting('x', { size: 1 }, 'absent')]),
      store.commit([things.putting('x', { size: 2 }, 'absent'), things.putting('y', {})]),
      store.commit([things.putting('x', { size: 3 }, 1)]),
      store.commit([things.putting('bad', { size: Number.NaN })]),
      store.commit([things.deleting('x', 2)]),
      store.commit([things.putting('z', {}, 'absent')]),
    ])
    expect(settled.map((one) => one.status === 'fulfilled')).toEqual([true, false, true, false, true, true])
    expect(await things.ids({})).toEqual(['z'])
  })

  fact('STORE-1: readers see two documents of a unit change together', async ({ store }) => {
    const counters = store.collection(COUNTERS)
    const both = (count: number) => [counters.putting('left', { count }), counters.putting('right', { count })]
    await store.commit(both(0))
    const seen: number[] = []
    const progress = { done: false }
    const writing = (async () => {
      for (let count = 1; count <= 100; count += 4) {
        await Promise.all([0, 1, 2, 3].map((more) => store.commit(both(count + more))))
      }
      progress.done = true
    })()
    const watching = (async () => {
      while (!progress.done) {
        const [pair, found] = await Promise.all([counters.getMany(['left', 'right']), counters.find({})])
        for (const two of [pair, found]) {
          expect(two.map((stored) => stored.id)).toEqual(['left', 'right'])
          expect(new Set(two.map((stored) => stored.value.count)).size).toBe(1)
        }
        seen.push(pair[0]?.value.count ?? -1)
      }
    })()
    await writing
    await watching
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    expect((await counters.get('left'))?.value.count).toBe(100)
  })

  fact('STORE-5: what was answered is seen by every kind of read', async ({ store, things, log }) => {
    for (let size = 0; size < 20; size += 1) {
      const { results } = await store.commit([
        things.putting('x', { size, status: `s${size}`, tags: [`t${size}`] }),
        log.appending([size]),
      ])
      const where = [{ field: 'size', op: 'eq', value: size }] as const
      const [one, many, found, ids, count, counts, tagged, last] = await Promise.all([
        things.get('x'),
        things.getMany(['x']),
        things.find({ where }),
        things.ids({ where }),
        things.count(where),
        things.countBy('status'),
        things.count([{ field: 'tags', op: 'eq', value: `t${size}` }]),
        log.read(size),
      ])
      expect(one).toMatchObject({ version: results[0], value: { size } })
      expect([many, found]).toEqual([[one], [one]])
      expect([ids, count, [...counts], tagged]).toEqual([['x'], 1, [[`s${size}`, 1]], 1])
      expect(last).toEqual([{ position: results[1], body: size }])
    }
  })

  fact(
    'a unit is of one store: its collections and logs are those of the store that commits',
    async ({ store, storage, tenant }) => {
      const other = storage.tenant(`${tenant}.b`)
      const write = store.collection(THINGS).putting('x', { size: 1 })
      other.collection(THINGS)
      await other.commit([write])
      expect(await other.collection(THINGS).get('x')).toMatchObject({ value: { size: 1 } })
      expect(await store.collection(THINGS).get('x')).toBeUndefined()
    },
  )

  fact('a unit has at most 10,000 writes', async ({ store, things }) => {
    const many = (count: number): Write[] => Array.from({ length: count }, (_, i) => things.deleting(`t${i}`))
    await expectCode(() => store.commit(many(10_001)), 'TOO_LARGE')
    expect((await store.commit(many(10_000))).results).toHaveLength(10_000)
  })

  suite.alone('a unit is there whole after opening again', async (opened) => {
    const store = opened.storage.tenant('acme')
    const things = store.collection(THINGS)
    await store.commit([things.putting('x', { size: 1 }), store.log('inputs').appending(['a'])])
    await expectCode(() => store.commit([things.putting('y', {}), things.putting('x', {}, 'absent')]), 'CONFLICT')
    const again = (await opened.reopen()).tenant('acme')
    expect(await again.collection(THINGS).ids({})).toEqual(['x'])
    expect(await again.log('inputs').read(0)).toEqual([{ position: 1, body: 'a' }])
  })
}
