/**
 * Tests hosts that interrupt each other at the worst moment: a third session holds a lock until the others wait for it.
 */
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { CollectionSpec, Storage, Store } from '../../../src/storage/contract.ts'
import { fenceStore, takeFence } from '../../../src/storage/fence-store.ts'
import { openPostgres } from '../../../src/storage/postgres/open.ts'
import { describeWithPostgres, type PostgresServer } from '../../support/postgres-server.ts'
import { noBlobs } from './no-blobs.ts'
import { NOTES } from './unit-writer.ts'
import { until } from '../../support/until.ts'

describeWithPostgres('hosts that meet on PostgreSQL', (start) => {
  let server: PostgresServer
  let holder: Client
  let watcher: Client
  let hosts: readonly [Storage, Storage]
  let round = 0

  beforeAll(async () => {
    server = await start()
    holder = new Client({ connectionString: server.url })
    watcher = new Client({ connectionString: server.url })
    await Promise.all([holder.connect(), watcher.connect()])
  })
  afterAll(async () => {
    await Promise.all([holder.end(), watcher.end()])
    await server.stop()
  })
  beforeEach(async () => {
    round += 1
    const schema = `meeting_${round}`
    const open = () => openPostgres({ url: server.url, schema, blobs: noBlobs() })
    hosts = [await open(), await open()]
    await holder.query(`set search_path = ${schema}`)
  })
  afterEach(async () => {
    await holder.query('rollback')
    await Promise.all(hosts.map((host) => host.close()))
  })

  const stores = (): readonly [Store, Store] => [hosts[0].tenant('acme'), hosts[1].tenant('acme')]
  const waiting = async (): Promise<number> => {
    const { rows } = await watcher.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and application_name like 'reflexarc%'`,
    )
    return rows[0]?.count ?? 0
  }
  /** Tracks whether a promise has settled. */
  const watched = <R>(work: Promise<R>) => {
    const state = { ended: false, work }
    const end = () => {
      state.ended = true
    }
    work.then(end, end)
    return state
  }

  it('STORE-2: the one that waited for a document sees what the other made of it', async () => {
    const [one, two] = stores()
    await one.collection(NOTES).put('x', { text: 'first' })
    await holder.query('begin')
    await holder.query(`select from c_notes_1 where id = 'x' for update`)
    const first = watched(one.collection(NOTES).put('x', { text: 'one' }, 1))
    await until(async () => (await waiting()) === 1)
    const second = watched(two.collection(NOTES).put('x', { text: 'two' }, 1))
    await until(async () => second.ended || (await waiting()) === 2)
    await holder.query('commit')
    const settled = await Promise.allSettled([first.work, second.work])
    expect(settled.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
    expect(await one.collection(NOTES).get('x')).toMatchObject({ version: 2 })
  })

  it('STORE-3: the one that waited for a document takes positions after those of the other', async () => {
    const [one, two] = stores()
    const unit = (store: Store) =>
      store.commit([store.collection(NOTES).putting('x', { text: 'x' }), store.log('inputs').appending([1])])
    await unit(one)
    await holder.query('begin')
    await holder.query(`select from c_notes_1 where id = 'x' for update`)
    const first = watched(unit(one))
    await until(async () => (await waiting()) === 1)
    const second = watched(unit(two))
    await until(async () => (await waiting()) === 2)
    await holder.query('commit')
    expect([(await first.work).results, (await second.work).results]).toEqual([
      [2, 2],
      [3, 3],
    ])
  })

  it('FENCE-1: a writer that waited for the fence while another took it is rejected, with all its writes', async () => {
    const [one, two] = stores()
    const before = fenceStore(one, await takeFence(one, 'tenant', { holder: 'a', term: 1 }))
    await before.log('inputs').append([1])
    await holder.query('begin')
    await holder.query('select from c_fences_1 for update')
    const taking = watched(takeFence(two, 'tenant', { holder: 'b', term: 2 }))
    await until(async () => (await waiting()) === 1)
    const late = watched(before.log('inputs').append([2]))
    await until(async () => (await waiting()) === 2)
    await holder.query('commit')
    const after = fenceStore(two, await taking.work)
    await expect(late.work).rejects.toMatchObject({ code: 'FENCED' })
    expect(await after.log('inputs').append([3])).toBe(2)
    expect((await one.log('inputs').read(0, 10)).map(({ body }) => body)).toEqual([1, 3])
  })

  it('a position that was applied is passed over, whichever host applied it', async () => {
    const [one, two] = stores()
    const at = (position: number) => ({
      samples: [{ resource: 'r', metric: 'm', time: 1, value: position }],
      applies: { log: 'inputs', position },
    })
    await one.series.append(at(1))
    await one.series.append(at(2))
    await two.series.append(at(1))
    expect(await one.series.latest('r')).toMatchObject([{ value: 2 }])
    expect(await one.series.applied('inputs')).toBe(2)
  })

  it('the position that is applied never goes back, however slow the host with the older one is', async () => {
    const [one, two] = stores()
    const at = (metric: string, position: number) => ({
      samples: [{ resource: 'r', metric, time: 1, value: position }],
      applies: { log: 'inputs', position },
    })
    await one.series.append({ samples: [{ resource: 'r', metric: 'held', time: 1, value: 0 }] })
    await one.series.append(at('free', 1))
    await holder.query('begin')
    await holder.query(
      `select from samples where series = (select series from series where metric = 'held') for update`,
    )
    const slow = watched(one.series.append(at('held', 2)))
    await until(async () => (await waiting()) === 1)
    const fast = watched(two.series.append(at('free', 3)))
    await until(async () => fast.ended || (await waiting()) === 2)
    await holder.query('commit')
    await Promise.all([slow.work, fast.work])
    expect(await one.series.applied('inputs')).toBe(3)
  })

  it('what another host is writing while a specification is raised is read again too', async () => {
    const [old, young] = stores()
    await old.collection(NOTES).put('x', { text: 'there' })
    await holder.query('begin')
    await holder.query(
      `insert into c_notes_1 (tenant, id, version, alive, body, f_text) values ('acme', 'y', 1, true, '{"text":"late"}', 'late')`,
    )
    const raised: CollectionSpec<{ readonly text: string }> = {
      ...NOTES,
      version: 2,
      fields: { length: { type: 'number', of: (note) => note.text.length } },
    }
    const raising = young.collection(raised).ids({ sort: [{ field: 'length' }] })
    await until(async () => (await waiting()) === 1)
    await holder.query('commit')
    expect(await raising).toEqual(['y', 'x'])
  })

  it('a trim that finds its first slice gone continues with the next', async () => {
    const [one] = stores()
    const log = one.log('inputs')
    const bodies = Array.from({ length: 10_000 }, () => 1)
    await log.append(bodies)
    await log.append(bodies.slice(0, 20))
    await holder.query('begin')
    await holder.query('update logs set first = 10001')
    const trimming = log.trim(10_010)
    await until(async () => (await waiting()) === 1)
    await holder.query('delete from log_entries where position <= 10000')
    await holder.query('commit')
    await trimming
    expect(await log.bounds()).toEqual({ first: 10_011, last: 10_020 })
    expect(await log.read(0)).toHaveLength(10)
  })
})
