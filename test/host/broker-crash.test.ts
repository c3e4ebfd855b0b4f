/**
 * A whole host, killed with -9 again and again while messages are posted. What it acknowledged is readable after each
 * start and was seen by the task of its resource exactly once; what was under way is there for both or for neither.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import { cases } from '../support/arbitraries/runs.ts'
import { HostProcesses, type HostProcess } from './host-process.ts'

const LANES = 8
const MESSAGES = cases(30)
const KILLS = cases(2)

const folder = mkdtempSync(join(tmpdir(), 'reflexarc-broker-'))
const hosts = new HostProcesses(folder)
afterAll(async () => {
  await hosts.end()
  rmSync(folder, { recursive: true, force: true })
})

let seed = Number(process.env['FC_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
function upTo(most: number): number {
  seed = nextSeed(seed)
  return Math.floor(randomOf(seed) * most)
}

const resourceOf = (lane: number): string => `line/${lane}`

/** The messages of one lane, one after the other, until the process is gone; gives how many were acknowledged. */
async function post(host: HostProcess, lane: number, from: number, acknowledged: () => void): Promise<number> {
  const { posting, messages } = host.client.broker
  for (let n = from; n < MESSAGES; n++) {
    try {
      await posting.events(resourceOf(lane), { n, timestamp: 1_000_000 + n })
      // what was acknowledged can be read at once
      if (n % 10 === 0) expect(await messages.current(resourceOf(lane))).toMatchObject({ n })
    } catch (error) {
      if (!host.isKilled) throw error
      return n
    }
    acknowledged()
  }
  return MESSAGES
}

async function seen(host: HostProcess, task: string): Promise<number> {
  const { inspection } = host.client.rules
  const { rawData } = await inspection.node(task, 'seen')
  return (rawData as { count?: number } | undefined)?.count ?? 0
}

async function samples(host: HostProcess, lane: number): Promise<readonly unknown[]> {
  const path = `/resources/${encodeURIComponent(resourceOf(lane))}/series/n/raw?from=0&until=2000000`
  const answer = await fetch(`${host.url}${path}`, { headers: host.headers })
  const { series } = (await answer.json()) as { series: readonly (readonly unknown[])[] }
  return series.map(([, value]) => value)
}

// Holds BROKER-1, INGEST-1
describe('a host that is killed while it is posted to', () => {
  it(`keeps what it acknowledged, once, for series and for tasks (FC_SEED=${seed})`, async () => {
    let host = await hosts.start()
    const { tasks } = host.client.rules
    const ids: string[] = []
    for (let lane = 0; lane < LANES; lane++) {
      const made = await tasks.create({
        sensors: [{ label: 'seen', name: 'invokeCount', resource: '$' }],
        task: { name: `t${lane}`, type: 'reactive', resource: resourceOf(lane) },
      })
      ids.push(made.ID)
    }
    const next = ids.map(() => 0)
    for (let kills = 0; kills < KILLS; kills++) {
      const dying = host
      const deadline = 1 + upTo(100)
      let acknowledged = 0
      let killed: Promise<void> | undefined
      const count = (): void => {
        if (++acknowledged >= deadline) killed ??= dying.kill()
      }
      const done = await Promise.all(next.map((from, lane) => post(dying, lane, from, count)))
      await (killed ?? dying.kill())
      host = await hosts.start()
      for (const [lane, n] of done.entries()) {
        const kept = await samples(host, lane)
        expect([n, n + 1], `lane ${lane} after kill ${kills}`).toContain(kept.length)
        expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => i))
        expect(await seen(host, ids[lane] ?? ''), `lane ${lane} after kill ${kills}`).toBe(kept.length)
        next[lane] = kept.length
      }
    }
    await Promise.all(next.map((from, lane) => post(host, lane, from, () => undefined)))
    for (const [lane, id] of ids.entries()) {
      expect(await samples(host, lane)).toHaveLength(MESSAGES)
      expect(await seen(host, id)).toBe(MESSAGES)
    }
  })
})
