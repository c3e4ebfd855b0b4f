/** Tests failing operations and their errors. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CollectionSpec, Storage } from '../../../src/storage/contract.ts'
import { Database } from '../../../src/storage/postgres/database.ts'
import { openPostgres, type PostgresOptions } from '../../../src/storage/postgres/open.ts'
import { expectCode, failureOf } from '../../contracts/storage/medium.ts'
import { cuttableWay, describeWithPostgres, type PostgresServer } from '../../support/postgres-server.ts'
import { noBlobs } from './no-blobs.ts'
import { until } from '../../support/until.ts'

interface Note {
  readonly text: string
}
const NOTES: CollectionSpec<Note> = {
  name: 'notes',
  version: 1,
  fields: { text: { type: 'text', of: (note) => note.text } },
}

describeWithPostgres('failures of storage on PostgreSQL', (start) => {
  let server: PostgresServer
  let admin: Database
  beforeAll(async () => {
    server = await start()
    admin = new Database({ url: server.url, schema: 'admin', patience: 0 })
  })
  afterAll(async () => {
    await admin.close()
    await server.stop()
  })
  const open = (options: Partial<PostgresOptions>) => openPostgres({ url: server.url, blobs: noBlobs(), ...options })
  const withStorage = async (options: Partial<PostgresOptions>, work: (storage: Storage) => Promise<void>) => {
    const storage = await open(options)
    try {
      await work(storage)
    } finally {
      await storage.close()
    }
  }
  const sql = (text: string) => admin.query({ text })
  const folder = () => new URL(server.url).searchParams.get('host') ?? ''

  describe('does not open, and explains why,', () => {
    const cases: readonly (readonly [string, () => Partial<PostgresOptions>, readonly string[]])[] = [
      [
        'where no server listens',
        () => ({ url: 'postgresql://u:secret@127.0.0.1:9/d' }),
        ['127.0.0.1:9', 'database d', 'start the server'],
      ],
      [
        'where there is no such socket',
        () => ({ url: 'postgresql:///d?host=/nowhere' }),
        ['/nowhere', 'start the server'],
      ],
      [
        'on a database that does not exist',
        () => ({ config: { host: folder(), user: 'tester', database: 'none' } }),
        ['database none', 'create the database'],
      ],
      [
        'for a user who is not known',
        () => ({ config: { host: folder(), user: 'nobody-known', database: 'postgres' } }),
        ['nobody-known'],
      ],
      ['by an address that is none', () => ({ url: 'postgresql://u:secret@[' }), ['postgresql://user:password@host']],
    ]
    it.each(cases)('%s', async (_, options, texts) => {
      const failure = await failureOf(() => openPostgres({ blobs: noBlobs(), ...options() }))
      expect(failure.code).toBe('STORE')
      for (const text of texts) expect(failure.message).toContain(text)
      expect(failure.message).not.toContain('secret')
    })

    it('in a schema that a newer version has written', async () => {
      await withStorage({ schema: 'newer' }, async () => undefined)
      await sql('insert into newer.migrations values (99, now())')
      const failure = await failureOf(() => open({ schema: 'newer' }))
      expect(failure.code).toBe('STORE')
      for (const text of ['newer', '99', 'newer version']) expect(failure.message).toContain(text)
    })

    it('for a user without rights, and does for one who may use an existing schema', async () => {
      await sql('create role guest login')
      const config = { host: folder(), user: 'guest', database: 'postgres' }
      const failure = await failureOf(() => openPostgres({ config, blobs: noBlobs(), schema: 'guests' }))
      expect([failure.code, failure.message]).toEqual(['STORE', expect.stringContaining('permission denied')])
      await sql('create schema guests authorization guest')
      const storage = await openPostgres({ config, blobs: noBlobs(), schema: 'guests' })
      expect(await storage.tenant('acme').log('inputs').append([1])).toBe(1)
      await storage.close()
    })

    it('in a database of another encoding than UTF-8', async () => {
      await sql(`create database latin encoding 'LATIN1' template template0`)
      const config = { host: folder(), user: 'tester', database: 'latin' }
      const failure = await failureOf(() => openPostgres({ config, blobs: noBlobs() }))
      expect([failure.code, failure.message]).toEqual(['STORE', expect.stringContaining('LATIN1')])
    })

    it('in a schema without a name, or with one that PostgreSQL would cut', async () => {
      for (const schema of ['', 'x'.repeat(64), 'a\0b']) await expectCode(() => open({ schema }), 'VALIDATION')
    })
  })

  it('takes any name for a schema, and never leaves it', async () => {
    const schema = `o'dd "name"; drop schema admin`
    await withStorage({ schema }, async (storage) => {
      await storage.tenant('acme').collection(NOTES).put('x', { text: 'one' })
    })
    await withStorage({ schema }, async (storage) => {
      expect(await storage.tenants()).toEqual(['acme'])
    })
    const { rows } = await admin.query({ text: 'select from pg_namespace where nspname = $1', values: [schema] })
    expect(rows).toHaveLength(1)
  })

  it('lets a unit that the server rejects fail alone', async () => {
    await withStorage({ schema: 'refusing' }, async (storage) => {
      const store = storage.tenant('acme')
      const notes = store.collection(NOTES)
      await notes.put('a', { text: 'fine' })
      await sql(`alter table refusing.c_notes_1 add check (f_text <> 'refused')`)
      const settled = await Promise.allSettled([
        notes.put('b', { text: 'fine' }),
        store.commit([store.log('inputs').appending(['lost']), notes.putting('c', { text: 'refused' })]),
        store.commit([store.log('inputs').appending(['kept']), notes.putting('d', { text: 'fine' })]),
      ])
      expect(settled.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(await notes.ids({})).toEqual(['a', 'b', 'd'])
      expect(await store.log('inputs').read(0)).toEqual([{ position: 1, body: 'kept' }])
      const failure = await failureOf(() => notes.put('e', { text: 'refused' }))
      expect(failure).toMatchObject({ code: 'STORE', issues: [{ type: 'NOT_WRITTEN' }] })
      expect(failure.message).toContain('violates check constraint')
    })
  })

  it('takes a server without room for one that is away', async () => {
    await withStorage({ schema: 'filled' }, async (storage) => {
      const notes = storage.tenant('acme').collection(NOTES)
      await notes.put('a', { text: 'fine' })
      await sql(`create function filled.no_room() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`)
      await sql('create trigger no_room before insert on filled.c_notes_1 execute function filled.no_room()')
      const failure = await failureOf(() => notes.put('b', { text: 'fine' }))
      expect(failure).toMatchObject({ code: 'UNAVAILABLE', issues: [{ type: 'NOT_WRITTEN' }] })
      expect(failure.message).toMatch(/could not extend file.*free some space on its disk/)
      await sql('drop trigger no_room on filled.c_notes_1')
      await notes.put('b', { text: 'fine' })
    })
  })

  it('says of every unit in progress that its outcome is unknown when the way is lost for good', async () => {
    const way = await cuttableWay(server)
    const storage = await open({ url: way.url, schema: 'lost', patience: 50 })
    const notes = storage.tenant('acme').collection(NOTES)
    await notes.put('a', { text: 'one' })
    way.watch((bytes) => {
      if (bytes.includes('commit\0')) way.muffle()
      return false
    })
    const settled = Promise.allSettled([notes.put('b', { text: 'two' }), notes.put('c', { text: 'three' })])
    await until(async () => {
      const { rows } = await admin.query<{ count: number }>({ text: 'select count(*) as count from lost.c_notes_1' })
      return rows[0]?.count === 3
    })
    way.cut()
    for (const one of await settled) {
      expect(one).toMatchObject({
        status: 'rejected',
        reason: { code: 'UNAVAILABLE', issues: [{ type: 'UNKNOWN_OUTCOME' }] },
      })
    }
    way.watch(undefined)
    way.mend()
    expect(await notes.ids({})).toEqual(['a', 'b', 'c'])
    await storage.close()
    await way.close()
  })

  it('rejects a unit that does not fit into one statement', async () => {
    await withStorage({ schema: 'large' }, async (storage) => {
      const store = storage.tenant('acme')
      const bodies = Array.from({ length: 66 }, () => 'x'.repeat(1_048_574))
      const [put, log] = [store.collection(NOTES).putting('x', { text: 'one' }), store.log('inputs')]
      await expectCode(() => store.commit([put, log.appending(bodies)]), 'TOO_LARGE')
      const messages = bodies.map((extra, time) => ({
        resource: 'r',
        stream: 's',
        time,
        body: { extra: extra.slice(12) },
      }))
      await expectCode(() => store.series.append({ messages }), 'TOO_LARGE')
      expect(await storage.tenants()).toEqual([])
    })
  })

  it('does not register a tenant that appended nothing', async () => {
    await withStorage({ schema: 'nobody' }, async (storage) => {
      await storage.tenant('acme').series.append({})
      await storage.tenant('acme').commit([])
      await storage.tenant('acme').collection(NOTES).delete('x')
      expect(await storage.tenants()).toEqual([])
    })
  })

  it('reads over a connection that died unnoticed', async () => {
    const way = await cuttableWay(server)
    const storage = await open({ url: way.url, schema: 'reading', patience: 50 })
    const notes = storage.tenant('acme').collection(NOTES)
    await notes.put('a', { text: 'one' })
    expect(await notes.get('a')).toBeDefined()
    way.cut()
    way.mend()
    expect(await notes.get('a')).toMatchObject({ value: { text: 'one' } })
    way.cut()
    expect((await failureOf(() => notes.get('a'))).code).toBe('UNAVAILABLE')
    expect((await failureOf(() => notes.put('b', { text: 'two' }))).issues).toMatchObject([{ type: 'NOT_WRITTEN' }])
    way.mend()
    expect(await notes.put('b', { text: 'two' })).toBe(1)
    await storage.close()
    await way.close()
  })

  it('closes its objects with it, once, and leaves no connection behind', async () => {
    const blobs = noBlobs()
    const storage = await open({ schema: 'closing', blobs })
    await storage.tenant('acme').collection(NOTES).put('a', { text: 'one' })
    await storage.tenant('acme').series.append({ samples: [{ resource: 'r', metric: 'm', time: 1, value: 1 }] })
    await Promise.all([storage.close(), storage.close()])
    await storage.close()
    expect(blobs.closed()).toBe(1)
    await until(async () => {
      const { rows } = await admin.query<{ count: number }>({
        text: `select count(*) as count from pg_stat_activity where application_name like 'reflexarc %'`,
      })
      return rows[0]?.count === 0
    })
    const { rows } = await admin.query({ text: 'select from closing.lanes' })
    expect(rows).toEqual([])
  })

  it('reckons buckets of numbers that are too great or too small to be squared', async () => {
    await withStorage({ schema: 'great' }, async (storage) => {
      const { series } = storage.tenant('acme')
      const values = [1e200, 5e-324, -1e308, -1e308, 3]
      await series.append({ samples: values.map((value, time) => ({ resource: 'r', metric: 'm', time, value })) })
      const [bucket] = await series.buckets({ resources: ['r'], metric: 'm', from: 0, until: 10, width: 10 })
      expect(bucket).toMatchObject({
        count: 5,
        min: -1e308,
        max: 1e200,
        sum: -Infinity,
        sumOfSquares: Infinity,
        last: 3,
      })
    })
  })
})
