/**
 * Tests that one host at a time uses a schema: a second one is rejected with the first one's name, and a host that lost
 * its lock writes nothing more.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AppError } from '../../../src/kernel/errors.ts'
import type { CollectionSpec, Storage } from '../../../src/storage/contract.ts'
import { Database } from '../../../src/storage/postgres/database.ts'
import { openPostgres, type PostgresOptions } from '../../../src/storage/postgres/open.ts'
import { cuttableWay, describeWithPostgres, type PostgresServer } from '../../support/postgres-server.ts'
import { transactionPooler } from '../../support/transaction-pooler.ts'
import { until } from '../../support/until.ts'
import { noBlobs } from './no-blobs.ts'

interface Note {
  readonly text: string
}
const NOTES: CollectionSpec<Note> = { name: 'notes', version: 1, fields: {} }

describeWithPostgres('a store that one host has', (start) => {
  let server: PostgresServer
  let admin: Database
  const open = (options: Partial<PostgresOptions> = {}) =>
    openPostgres({ url: server.url, blobs: noBlobs(), lock: 'exclusive', ...options })
  /** Returns the sessions that hold a lock or wait for one */
  const sessions = async () => {
    const text = `select l.pid, a.application_name as name from pg_locks l join pg_stat_activity a on a.pid = l.pid
                  where l.locktype = 'advisory' and l.granted`
    return (await admin.query<{ pid: number; name: string }>({ text })).rows
  }

  beforeAll(async () => {
    server = await start()
    admin = new Database({ url: server.url, schema: 'admin', patience: 0 })
  })
  afterAll(async () => {
    await admin.close()
    await server.stop()
  })

  it('is rejected to a second one, whose error names the holder and what to do', async () => {
    const first = await open()
    const said = new RegExp(
      `^PostgreSQL at .*, schema reflexarc, is in use by another host: reflexarc .* ${process.pid} .*, since 2.*stop that host first`,
    )
    await expect(open()).rejects.toMatchObject({ code: 'STORE', message: expect.stringMatching(said) as unknown })
    const other = await open({ schema: 'other' })
    await Promise.all([first.close(), other.close()])
    await (await open()).close()
  })

  it('is taken again after the way was lost, though the server still believes in the old session', async () => {
    const way = await cuttableWay(server)
    const host = await open({ url: way.url })
    const [before] = await sessions()
    way.strand()
    await until(async () => (await sessions()).some(({ pid }) => pid !== before?.pid))
    expect(await sessions()).toEqual([{ pid: expect.any(Number) as unknown, name: before?.name }])
    await host.tenant('acme').collection(NOTES).put('a', { text: 'one' })
    await host.close()
    await way.close()
  })

  it('is not taken again by a host that is closed meanwhile', async () => {
    const way = await cuttableWay(server)
    const host = await open({ url: way.url })
    way.cut()
    let closing: Promise<void> | undefined
    way.watch((bytes) => {
      if (bytes.includes('listen ')) closing ??= host.close()
      return false
    })
    way.mend()
    await until(() => closing !== undefined)
    await closing
    const taken = async (): Promise<number> => {
      const text = `select 1 from pg_stat_activity where application_name like 'reflexarc %'`
      return (await admin.query({ text })).count
    }
    await until(async () => (await taken()) === 0)
    expect(await taken()).toBe(0)
    await way.close()
  })

  it('is rejected by way of a pooler that lends connections for a transaction', async () => {
    const pooler = await transactionPooler(server)
    for (const lock of ['exclusive', 'shared'] as const) {
      await expect(open({ url: pooler.url, lock })).rejects.toThrow(
        /is behind a connection pooler in transaction mode.*; use the address of the server itself/,
      )
    }
    pooler.close()
    // its locks are free
    await until(async () => (await sessions()).length === 0)
    await (await open()).close()
  })

  it('that several share reports which of them are there, unless it was away for all of them a moment ago', async () => {
    const way = await cuttableWay(server)
    const [one, two] = await Promise.all([open({ url: way.url, lock: 'shared' }), open({ lock: 'shared' })])
    await Promise.all([one.presence?.announce('one'), two.presence?.announce('two')])
    const among = (storage: Storage) => storage.presence?.among(['one', 'two', 'three'])
    expect(await among(two)).toBeUndefined()
    await until(async () => (await among(two)) !== undefined)
    expect(await among(two)).toEqual(new Set(['one', 'two']))
    const before = (await sessions()).map(({ pid }) => pid)
    way.strand()
    // the host may have lost only its own session, which it cannot know
    await until(async () => (await among(one)) === undefined)
    // the new session takes over from the old one, whose end the server has not noticed
    await until(async () => {
      const pids = (await sessions()).map(({ pid }) => pid)
      return pids.length === 4 && pids.filter((pid) => !before.includes(pid)).length === 2
    })
    expect(await among(two)).toEqual(new Set(['one', 'two']))
    await one.close()
    // the server notices the end a moment later
    await until(async () => (await among(two))?.has('one') === false)
    await two.close()
    await way.close()
  })

  it('that several share says at once when one is gone, and what they tell each other', async () => {
    const way = await cuttableWay(server)
    const [one, two] = await Promise.all([open({ url: way.url, lock: 'shared' }), open({ lock: 'shared' })])
    const heardByOne: (string | undefined)[] = []
    const heardByTwo: (string | undefined)[] = []
    one.presence?.onNotification((word) => void heardByOne.push(word))
    two.presence?.onNotification((word) => void heardByTwo.push(word))
    await one.presence?.announce('one')
    await one.notify?.('hello')
    await until(() => heardByTwo.includes('hello') && heardByOne.includes('hello'))

    const calledOff = new AbortController()
    const never = two.presence?.gone('one', calledOff.signal)
    calledOff.abort()
    await never
    let isGone = false
    const gone = two.presence?.gone('one', new AbortController().signal).then(() => (isGone = true))
    await until(async () => (await sessions()).some(({ name }) => name.startsWith('reflexarc ')))
    expect([isGone, two.presence?.notificationLag]).toEqual([false, expect.any(Number)])
    way.cut()
    await gone
    await until(() => one.presence?.notificationLag === Number.POSITIVE_INFINITY)
    await two.notify?.('not heard by one')
    heardByOne.length = 0
    way.mend()
    await until(() => heardByOne.length > 0)
    expect(heardByOne).toEqual([undefined])
    // watching does not delay a host that returns
    await until(async () => (await sessions()).length === 3)
    await Promise.all([one.close(), two.close()])
    await until(async () => (await sessions()).length === 0)
    await way.close()
  })

  it(
    'is held up by a host that stalls in the middle of a commit for some seconds at most',
    { timeout: 20_000 },
    async () => {
      const way = await cuttableWay(server)
      const [frozen, other] = await Promise.all([open({ url: way.url, lock: 'shared' }), open({ lock: 'shared' })])
      const notes = frozen.tenant('acme').collection(NOTES)
      const version = await notes.put('a', { text: 'one' })
      way.watch((bytes) => {
        if (!bytes.includes('begin isolation')) return false
        way.watch(undefined)
        way.muffle()
        return false
      })
      const late = notes.put('a', { text: 'late' }, version).then(
        () => 'written',
        (error: AppError) => error.code,
      )
      // the host has locked the rows that it wants to write
      await until(async () => {
        const text = `select 1 from pg_stat_activity where state = 'idle in transaction'`
        return (await admin.query({ text })).count > 0
      })
      await other.tenant('acme').collection(NOTES).put('a', { text: 'two' })
      way.cut()
      way.mend()
      expect(await late).toBe('CONFLICT')
      await Promise.all([frozen.close(), other.close()])
      await way.close()
    },
  )

  it('rejects everything to a host that another has replaced meanwhile', async () => {
    const way = await cuttableWay(server)
    const first = await open({ url: way.url })
    const notes = first.tenant('acme').collection(NOTES)
    await notes.put('a', { text: 'one' })
    way.cut()
    const second = await open()
    way.mend()
    await until(() =>
      notes.get('a').then(
        () => false,
        (error: Error) => error.message.includes('is in use by another host'),
      ),
    )
    await expect(notes.put('a', { text: 'two' })).rejects.toMatchObject({ code: 'STORE' })
    expect(await second.tenant('acme').collection(NOTES).get('a')).toMatchObject({ value: { text: 'one' } })
    await Promise.all([first.close(), second.close()])
    await way.close()
  })
})
