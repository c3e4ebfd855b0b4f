/** Tests several hosts on one database: guarantees for a single host hold for all hosts together. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import type { Collection, CollectionSpec, Storage, Store } from '../../../src/storage/contract.ts'
import { openPostgres } from '../../../src/storage/postgres/open.ts'
import { expectCode } from '../../contracts/storage/medium.ts'
import { describeWithPostgres, type PostgresServer } from '../../support/postgres-server.ts'
import { noBlobs } from './no-blobs.ts'

interface Note {
  readonly text: string
  readonly by?: string
}
interface Count {
  readonly count: number
}

const NOTES: CollectionSpec<Note> = {
  name: 'notes',
  version: 1,
  fields: { text: { type: 'text', of: (note) => note.text } },
}
const COUNTS: CollectionSpec<Count> = {
  name: 'counts',
  version: 1,
  fields: { count: { type: 'number', of: (counter) => counter.count } },
}

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

describeWithPostgres('two hosts on one database', (start) => {
  let server: PostgresServer
  let hosts: readonly Storage[] = []
  const open = (schema = 'shared') => openPostgres({ url: server.url, schema, blobs: noBlobs() })

  beforeAll(async () => {
    server = await start()
    hosts = await Promise.all([open(), open()])
  })
  afterAll(async () => {
    await Promise.all(hosts.map((host) => host.close()))
    await server.stop()
  })
  const stores = (tenant: string): readonly [Store, Store] => {
    const [one, two] = hosts
    if (one === undefined || two === undefined) throw new Error('the hosts did not open')
    return [one.tenant(tenant), two.tenant(tenant)]
  }
  const fulfilled = (settled: readonly PromiseSettledResult<unknown>[]) =>
    settled.map((one) => one.status === 'fulfilled')

  it('may be opened at the same moment over nothing, and use a collection for the first time together', async () => {
    const many = await Promise.all(upTo(5).map(() => open('fresh')))
    await Promise.all(many.map((host, i) => host.tenant('acme').collection(NOTES).put(`n${i}`, { text: 'x' })))
    const counts = await Promise.all(many.map((host) => host.tenant('acme').collection(NOTES).count()))
    expect(counts).toEqual([5, 5, 5, 5, 5])
    await Promise.all(many.map((host) => host.close()))
  })

  it('STORE-1: units that touch the same documents in opposite order all come through, whole', async () => {
    const [one, two] = stores('circle')
    const ids = ['a', 'b', 'c', 'd']
    const unit = (store: Store, by: string, order: readonly string[]) => {
      const notes = store.collection(NOTES)
      return store.commit(order.map((id) => notes.putting(id, { text: by, by })))
    }
    await Promise.all(upTo(30).flatMap((n) => [unit(one, `one ${n}`, ids), unit(two, `two ${n}`, [...ids].reverse())]))
    const found = await one.collection(NOTES).find({})
    expect(new Set(found.map((stored) => stored.value.by)).size).toBe(1)
    expect(found.map((stored) => stored.version)).toEqual([60, 60, 60, 60])
  })

  it('STORE-1: one host sees the units of the other whole', async () => {
    const [one, two] = stores('pairs')
    const [writing, reading] = [one.collection(COUNTS), two.collection(COUNTS)]
    const both = (count: number) => one.commit([writing.putting('l', { count }), writing.putting('r', { count })])
    await both(0)
    const writers = { done: false }
    const torn: unknown[] = []
    const watch = async () => {
      while (!writers.done) {
        const counts = (await reading.getMany(['l', 'r'])).map((stored) => stored.value.count)
        if (counts[0] !== counts[1]) torn.push(counts)
      }
    }
    const watching = watch()
    for (const count of upTo(60)) await both(count)
    writers.done = true
    await watching
    expect(torn).toEqual([])
  })

  it('STORE-2: no increment is lost, and of two creations one wins', async () => {
    const both = stores('race')
    const counts = both.map((store) => store.collection(COUNTS))
    await counts[0]?.put('x', { count: 0 })
    const increment = async (collection: Collection<Count>): Promise<void> => {
      for (;;) {
        const stored = await collection.get('x')
        try {
          await collection.put('x', { count: (stored?.value.count ?? 0) + 1 }, stored?.version ?? 'absent')
          return
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error
        }
      }
    }
    await Promise.all(counts.flatMap((collection) => upTo(15).map(() => increment(collection))))
    expect(await counts[1]?.get('x')).toEqual({ id: 'x', version: 31, value: { count: 30 } })

    const created = await Promise.all(
      upTo(20).map((n) =>
        Promise.allSettled(both.map((store, by) => store.collection(NOTES).put(`n${n}`, { text: `${by}` }, 'absent'))),
      ),
    )
    expect(created.map((tries) => fulfilled(tries).filter(Boolean).length)).toEqual(upTo(20).map(() => 1))
    const winners = created.map((tries) => String(fulfilled(tries).indexOf(true)))
    const notes = await both[0].collection(NOTES).getMany(upTo(20).map((n) => `n${n}`))
    expect(notes.map((stored) => stored.value.text)).toEqual(winners)
  })

  it('STORE-2: a version never comes again when one host deletes what the other writes', async () => {
    const [one, two] = stores('again')
    const [mine, theirs] = [one.collection(NOTES), two.collection(NOTES)]
    const versions: number[] = []
    for (const n of upTo(10)) {
      versions.push(await mine.put('x', { text: `${n}` }, 'absent'))
      await theirs.delete('x', versions.at(-1))
      await expectCode(() => mine.put('x', { text: 'late' }, versions.at(-1)), 'CONFLICT')
    }
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
  })

  it('STORE-3: positions have no gaps and no twins, also where units fail, and each host finds its own', async () => {
    const both = stores('positions')
    const [guard] = both
    await guard.collection(NOTES).put('taken', { text: 'x' })
    const append = async (store: Store, by: number, n: number) => {
      const log = store.log('inputs')
      const writes = [log.appending([`${by}/${n}`, `${by}/${n}`])]
      if (n % 3 === 0) writes.push(store.collection(NOTES).putting('taken', { text: 'y' }, 'absent'))
      const settled = await Promise.allSettled([store.commit(writes)])
      return settled.map(
        (one) => [`${by}/${n}`, one.status === 'fulfilled' ? one.value.results[0] : 'refused'] as const,
      )
    }
    const answers = (await Promise.all(both.flatMap((store, by) => upTo(40).map((n) => append(store, by, n))))).flat()
    const entries = await guard.log('inputs').read(0)
    expect(entries.map((entry) => entry.position)).toEqual(upTo(2 * 2 * 27))
    for (const [body, last] of answers) {
      const found = entries.filter((entry) => entry.body === body).map((entry) => entry.position)
      expect([body, found]).toEqual([body, typeof last === 'number' ? [last - 1, last] : []])
    }
    for (const by of [0, 1]) {
      const order = entries.flatMap(({ body }) => (typeof body === 'string' && body.startsWith(`${by}/`) ? [body] : []))
      const numbers = order.map((body) => Number(body.slice(2)))
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    }
  })

  it('STORE-3: a follower that reads from its cursor on misses nothing while both hosts append and one trims', async () => {
    const [one, two] = stores('cursor')
    const seen: number[] = []
    const writers = { done: false }
    const follow = async () => {
      const log = two.log('inputs')
      for (let after = 0; !writers.done || (await log.bounds()).last > after;) {
        for (const { position } of await log.read(after, 7)) {
          seen.push(position)
          after = position
        }
        await log.trim(after)
      }
    }
    const following = follow()
    await Promise.all(
      [one, two].map(async (store) => {
        for (const n of upTo(50)) await store.log('inputs').append([n])
      }),
    )
    writers.done = true
    await following
    expect(seen).toEqual(upTo(100))
    expect(await one.log('inputs').bounds()).toEqual({ first: 101, last: 100 })
  })

  it('STORE-5: what one host was answered is there for the other', async () => {
    const [one, two] = stores('answered')
    for (const n of upTo(20)) {
      const version = await one.collection(NOTES).put('x', { text: `${n}` })
      expect(await two.collection(NOTES).get('x')).toEqual({ id: 'x', version, value: { text: `${n}` } })
      await two.series.append({ samples: [{ resource: 'r', metric: 'm', time: n, value: n }] })
      expect(await one.series.latest('r')).toMatchObject([{ time: n }])
    }
    expect(await hosts[1]?.tenants()).toContain('answered')
  })

  it('series: what both apply of one log is there once, and the newest wins', async () => {
    const both = stores('applied')
    await Promise.all(
      both.map(async ({ series }) => {
        for (const position of upTo(30)) {
          await series.append({
            samples: [{ resource: 'r', metric: 'm', time: 0, value: position }],
            messages: [{ resource: 'r', stream: 's', time: position, body: { position } }],
            applies: { log: 'inputs', position },
          })
        }
      }),
    )
    const [{ series }] = both
    expect(await series.applied('inputs')).toBe(30)
    expect(await series.latest('r')).toMatchObject([{ value: 30 }])
    expect(await series.messages({ resource: 'r', stream: 's' })).toHaveLength(30)
  })

  it('series: both may write the same names and times at once', async () => {
    const both = stores('names')
    const batch = (store: Store, value: number) =>
      store.series.append({
        samples: upTo(50).map((n) => ({ resource: `r${n % 7}`, metric: `m${n % 5}`, time: n % 3, value })),
      })
    await Promise.all(upTo(20).flatMap((n) => both.map((store, by) => batch(store, n * 2 + by))))
    expect(await both[0].series.latest('r3')).toHaveLength(5)
  })

  it('a host with an older specification is rejected once another has raised it, and loses nothing', async () => {
    const [old, young] = [await open('raised'), await open('raised')]
    const before = old.tenant('acme').collection(NOTES)
    await before.put('x', { text: 'one' })
    const raised: CollectionSpec<Note> = {
      ...NOTES,
      version: 2,
      fields: { text: { type: 'text', of: (note) => note.text.toUpperCase() } },
    }
    const after = young.tenant('acme').collection(raised)
    const writing = Promise.allSettled(upTo(30).map((n) => before.put(`n${n}`, { text: `t${n}` })))
    expect(await after.ids({ where: [{ field: 'text', op: 'eq', value: 'ONE' }] })).toEqual(['x'])
    const written = fulfilled(await writing).filter(Boolean).length
    expect(await after.count([{ field: 'text', op: 'startsWith', value: 'T' }])).toBe(written)
    for (const act of [() => before.put('y', { text: 'z' }), () => before.get('x'), () => before.find({})]) {
      await expectCode(act, 'STORE')
      await expectCode(act, 'STORE')
    }
    expect(await old.tenant('acme').log('inputs').append([1])).toBe(1)
    await Promise.all([old.close(), young.close()])
  })

  it('fields that change without a raised version are rejected', async () => {
    const other = await open()
    await stores('acme')[0].collection(NOTES).count()
    const changed = { ...NOTES, fields: {} }
    await expectCode(() => other.tenant('acme').collection(changed).count(), 'VALIDATION')
    await other.close()
  })
})
