/** Tests two hosts on one database: they share their alarms. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { timelineOf } from '../../../src/services/alarms/timeline.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openPostgres } from '../../../src/storage/postgres/open.ts'
import { describeWithPostgres, type PostgresServer } from '../../support/postgres-server.ts'
import { alarmOf, bench, type Bench } from './support/bench-of-alarms.ts'

const SOURCES = 5
/** Number of creations per host */
const TIMES = 150

describeWithPostgres('alarms of two hosts on one database', (start) => {
  let server: PostgresServer
  let storages: readonly Storage[] = []
  let hosts: readonly Bench[] = []

  beforeAll(async () => {
    server = await start()
    const open = () => openPostgres({ url: server.url, blobs: openMemoryBlobs() })
    storages = [await open(), await open()]
    hosts = await Promise.all(storages.map((storage, i) => bench({ storage, ids: `host${i}-` })))
  })
  afterAll(async () => {
    for (const host of hosts) await host.close()
    for (const storage of storages) await storage.close()
    await server.stop()
  })

  it('raised by both at once are open once per source, count all raises, and replay to their present state', async () => {
    const raised = hosts.flatMap(({ api }) =>
      Array.from({ length: TIMES }, (_, i) =>
        api.raise(alarmOf({ source: { id: `r${i % SOURCES}` } }), { history: 'newest' }),
      ),
    )
    const ids = new Set((await Promise.all(raised)).map(({ id }) => id))
    expect(ids.size).toBe(SOURCES)
    await Promise.all(
      hosts.flatMap(({ api }, host) => [...ids].map((id) => api.update(id, { assignee: `user/${host}` }))),
    )
    for (const { api } of hosts) {
      for (const id of ids) {
        const alarm = await api.get(id)
        expect(alarm.count).toBe((2 * TIMES) / SOURCES)
        const last = timelineOf(alarm).at(-1)?.alarm
        expect([last?.['status'], last?.['assignee']]).toEqual([alarm.status, alarm.assignee])
        expect(alarm.history.filter(({ changes }) => changes).length).toBe(2)
      }
    }
  })

  it('that both clear at once are cleared once', async () => {
    const [one, two] = hosts
    if (!one || !two) throw new Error('the hosts did not open')
    const { id } = await one.api.raise(alarmOf({ source: { id: 'both' } }))
    const settled = await Promise.allSettled([one, two].map(({ api }) => api.update(id, { status: 'CLEARED' })))
    expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect((await two.api.get(id)).history).toHaveLength(2)
  })

  it('are reported to the readers of both, without a gap, in the order of the log', async () => {
    const [one, two] = hosts
    if (!one || !two) throw new Error('the hosts did not open')
    const gone = new AbortController()
    const read = async ({ api }: Bench): Promise<readonly string[]> => {
      const ids: string[] = []
      for await (const event of api.events({ signal: gone.signal, after: '0' })) {
        ids.push(event.id)
        if (event.text.includes('"the last"')) return ids
      }
      return ids
    }
    const reading = [read(one), read(two)]
    await Promise.all(hosts.map(({ api }) => api.raise(alarmOf({ source: { id: 'more' } }))))
    await one.api.raise(alarmOf({ source: { id: 'end' }, text: 'the last' }))
    // a host sees the other's writes at its own next event, or when it polls
    await two.api.raise(alarmOf({ source: { id: 'end' } }))
    const [here, there] = await Promise.all(reading)
    expect(here).toEqual(there)
    expect(here).toEqual(Array.from({ length: here?.length ?? 0 }, (_, i) => String(i + 1)))
    gone.abort()
  })
})
