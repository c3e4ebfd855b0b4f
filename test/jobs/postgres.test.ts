/** Hosts that share a PostgreSQL: the server's clock, its conflicts, and real interleavings. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JobHandler } from '../../src/jobs/contract.ts'
import { itemHandler } from '../../src/jobs/item-handler.ts'
import { JobRunner } from '../../src/jobs/job-runner.ts'
import { machineTimers } from '../../src/platform/timers.ts'
import type { Storage } from '../../src/storage/contract.ts'
import { openPostgres } from '../../src/storage/postgres/open.ts'
import { noBlobs } from '../storage/postgres/no-blobs.ts'
import { describeWithPostgres, type PostgresServer } from '../support/postgres-server.ts'

describeWithPostgres('jobs of hosts that share a PostgreSQL', (start) => {
  let server: PostgresServer
  let stores: readonly Storage[] = []
  beforeAll(async () => {
    server = await start()
    const open = () => openPostgres({ url: server.url, schema: 'jobs', blobs: noBlobs() })
    stores = await Promise.all([open(), open(), open()])
  })
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await server.stop()
  })

  /** One runner on each store; their hosts' clocks are an hour apart. */
  function runners(tenant: string, handlers: (host: number) => readonly JobHandler[]): readonly JobRunner[] {
    let ids = 0
    return stores.map((storage, host) => {
      const now = () => Date.now() + (host - 1) * 3_600_000
      return new JobRunner({
        tenant,
        store: storage.tenant(tenant),
        handlers: handlers(host),
        now,
        newId: () => `h${host}-${ids++}`,
        timers: machineTimers,
      })
    })
  }

  it('each run once, serial ones one after the other, and parents last', async () => {
    const seen: string[] = []
    let serial = 0
    let most = 0
    const run: JobHandler['run'] = async ({ job, breathe }) => {
      seen.push(job.id)
      if (job.type === 'serial') most = Math.max(most, ++serial)
      await breathe()
      if (job.type === 'serial') serial--
      return { kind: 'completed', result: seen.length }
    }
    const items = itemHandler<string>({
      type: 'items',
      batchSize: 4,
      slice: 2,
      item: async (id) => {
        seen.push(id)
        return { statusCode: 200 }
      },
    })
    const hosts = runners('acme', () => [{ type: 'many', run }, { type: 'serial', isSerial: true, run }, items])
    await Promise.all(hosts.map((host) => host.start()))
    const added = hosts.flatMap((host, n) => [
      ...Array.from({ length: 4 }, () => host.queue.add({ type: 'serial' })),
      host.queue.add({
        type: 'many',
        id: `parent ${n}`,
        children: Array.from({ length: 6 }, (_, i) => ({ type: i % 2 === 0 ? 'many' : 'serial' })),
      }),
      host.queue.add({ type: 'items', items: Array.from({ length: 10 }, (_, i) => `item ${n} ${i}`) }),
    ])
    const jobs = await Promise.all(added)
    const [first] = hosts
    for (const { id } of jobs) await first?.queue.finished(id)
    expect(await first?.queue.counts()).toEqual(new Map([['completed', 3 * (4 + 7 + 1)]]))
    expect(new Set(seen).size, 'each once').toBe(seen.length)
    expect(seen).toHaveLength(3 * (4 + 7 + 10))
    expect(most).toBe(1)
    for (const n of [0, 1, 2]) {
      const children = await first?.queue.documents.children(`parent ${n}`)
      const places = children?.map(({ id }) => seen.indexOf(id)) ?? []
      expect(Math.max(...places)).toBeLessThan(seen.indexOf(`parent ${n}`))
    }
    await Promise.all(hosts.map((host) => host.stop()))
  })

  it('are leased by the clock of the server: a host whose clock is an hour ahead takes nothing from the holder', async () => {
    let end: () => void = () => undefined
    const ended = new Promise<void>((resolve) => (end = resolve))
    const takers: number[] = []
    const hosts = runners('clock', (host) => [
      {
        type: 'long',
        run: async () => {
          takers.push(host)
          await ended
          return { kind: 'completed' }
        },
      },
    ])
    const [early, , late] = hosts
    const { id } = (await early?.queue.add({ type: 'long' })) ?? { id: '' }
    const active = async () => (await early?.queue.get(id))?.state === 'active'
    await expect.poll(active).toBe(true)
    const { ms } = (await stores[0]?.tenant('clock').now()) ?? { ms: 0 }
    const lease = (await early?.queue.get(id))?.lease
    expect(lease?.until).toBeGreaterThan(ms)
    expect(lease?.until).toBeLessThanOrEqual(ms + 15_000)
    await late?.start()
    await late?.idle()
    end()
    await early?.queue.finished(id)
    expect(takers).toEqual([0])
    await Promise.all(hosts.map((host) => host.stop()))
  })
})
