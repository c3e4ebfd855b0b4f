/**
 * Tests STORE-1 to STORE-4 when the server or a host crashes at any moment. Each round writes units of a document, its
 * twin and two log entries until the crash; afterwards every acknowledged unit exists, and each unit exists completely
 * or not at all.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { openPostgres } from '../../../src/storage/postgres/open.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { describeWithPostgres, type PostgresServer } from '../../support/postgres-server.ts'
import { root } from '../../support/repository.ts'
import { noBlobs } from './no-blobs.ts'
import { NOTES, writeUnit } from './unit-writer.ts'

describeWithPostgres('falls of PostgreSQL and of hosts', (start) => {
  let server: PostgresServer
  let round = 0
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  /** Compares all data of a tenant with the acknowledged and the rejected units. */
  async function check(tenant: string, answered: ReadonlySet<number>, refused: ReadonlySet<number>): Promise<void> {
    const storage = await openPostgres({ url: server.url, blobs: noBlobs() })
    const store = storage.tenant(tenant)
    const entries = await store.log('inputs').read(0, 10_000)
    const notes = await store.collection(NOTES).find({ limit: 10_000 })
    expect(entries.map((entry) => entry.position)).toEqual(entries.map((_, i) => i + 1))
    const there = new Set(entries.map((entry) => Number(entry.body)))
    expect([...answered].filter((n) => !there.has(n))).toEqual([])
    expect([...refused].filter((n) => there.has(n))).toEqual([])
    const whole = [...there].flatMap((n) => [`left ${n}`, `right ${n}`]).sort()
    expect(notes.map((stored) => stored.id).sort()).toEqual(whole)
    expect(entries).toHaveLength(there.size * 2)
    expect(await store.log('inputs').append(['next'])).toBe(entries.length + 1)
    await storage.close()
  }

  it('STORE-4: keeps what it answered when the server falls, and never answers wrongly', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 120 }),
        fc.integer({ min: 1, max: 12 }),
        async (fallAfter, writers) => {
          round += 1
          const tenant = `server-${round}`
          const storage = await openPostgres({ url: server.url, blobs: noBlobs(), patience: 5_000 })
          const store = storage.tenant(tenant)
          const [answered, refused, unknown] = [new Set<number>(), new Set<number>(), new Set<number>()]
          let next = 0
          let falling: Promise<void> | undefined
          const writer = async () => {
            while (falling === undefined) {
              const n = (next += 1)
              try {
                await writeUnit(store, n)
                answered.add(n)
              } catch (error) {
                const fate = error instanceof AppError ? error.issues[0]?.type : undefined
                if (fate === 'NOT_WRITTEN') refused.add(n)
                else if (fate === 'UNKNOWN_OUTCOME') unknown.add(n)
                else throw error
              }
              if (answered.size >= fallAfter) falling ??= server.crash().then(() => server.start())
            }
          }
          await Promise.all(Array.from({ length: writers }, writer))
          await falling
          await storage.close()
          expect(answered.size).toBeGreaterThanOrEqual(fallAfter)
          await check(tenant, answered, refused)
        },
      ),
      runs(6),
    )
  })

  it('STORE-4: keeps what it answered when a host is killed, and nothing of it is held', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 200 }), async (killAfter) => {
        round += 1
        const tenant = `host-${round}`
        const child = spawn(
          process.execPath,
          [join(root, 'test/storage/postgres/unit-writer.ts'), server.url, tenant],
          {
            stdio: ['ignore', 'pipe', 'inherit'],
          },
        )
        const ended = new Promise((resolve) => child.once('exit', resolve))
        const answered = new Set<number>()
        for await (const line of createInterface({ input: child.stdout })) {
          answered.add(Number(line))
          if (answered.size === killAfter) child.kill('SIGKILL')
        }
        await ended
        expect(answered.size).toBeGreaterThanOrEqual(killAfter)
        await check(tenant, answered, new Set())
      }),
      runs(4),
    )
  })
})
