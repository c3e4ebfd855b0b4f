/**
 * A whole host, killed with -9 while webhooks come in, good payloads and bad ones. What it acknowledged is stored, or
 * among the rejected payloads; what was under way comes again under its key, and is there once.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import { cases } from '../support/arbitraries/runs.ts'
import { HostProcesses, type HostProcess } from './host-process.ts'

const LANES = 4
const PAYLOADS = cases(20)
const KILLS = cases(2)
const TEMPLATE = '{"metrics":[{"resource":"$payload.device","n":$payload.n,"timestamp":$payload.at}]}'

const folder = mkdtempSync(join(tmpdir(), 'reflexarc-converter-'))
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

const deviceOf = (lane: number): string => `device-${lane}`

/** Every third one cannot be converted. */
const isBad = (n: number): boolean => n % 3 === 2

/** The payloads of one lane until the process is gone; gives the first that was not acknowledged. */
async function send(host: HostProcess, lane: number, from: number, acknowledged: () => void): Promise<number> {
  const { converter } = host.client
  for (let n = from; n < PAYLOADS; n++) {
    const payload = isBad(n) ? { device: deviceOf(lane), bad: n } : { device: deviceOf(lane), n, at: 1_000_000 + n }
    try {
      const { rejected } = await converter.ingest('gw', payload, { idempotencyKey: `${lane}-${n}` })
      expect(rejected !== undefined).toBe(isBad(n))
    } catch (error) {
      if (!host.isKilled) throw error
      return n
    }
    acknowledged()
  }
  return PAYLOADS
}

const upToNumber = (end: number, wanted: (n: number) => boolean): readonly number[] =>
  Array.from({ length: end }, (_, n) => n).filter(wanted)

async function stored(host: HostProcess, lane: number): Promise<readonly unknown[]> {
  const path = `/resources/${deviceOf(lane)}/series/n/raw?from=0&until=2000000`
  const answer = await fetch(`${host.url}${path}`, { headers: host.headers })
  return ((await answer.json()) as { series: readonly (readonly unknown[])[] }).series.map(([, value]) => value)
}

async function rejected(host: HostProcess): Promise<readonly { readonly device: string; readonly bad: number }[]> {
  const list = await host.client.converter.rejected.list('gw', { limit: 1_000 })
  return list.rejected.map(({ payload }) => JSON.parse(payload) as { device: string; bad: number })
}

// Holds CONVERTER-1, CONVERTER-2
describe('a host that is killed while webhooks come in', () => {
  it(`keeps what it acknowledged, once (FC_SEED=${seed})`, async () => {
    let host = await hosts.start()
    await host.client.converter.put('gw', { type: 'velocity', template: TEMPLATE })
    let next = Array.from({ length: LANES }, () => 0)
    for (let kills = 0; kills < KILLS; kills++) {
      const dying = host
      const deadline = 1 + upTo(LANES * PAYLOADS * 0.6)
      let acknowledged = 0
      let killed: Promise<void> | undefined
      const count = (): void => {
        if (++acknowledged >= deadline) killed ??= dying.kill()
      }
      next = await Promise.all(next.map((from, lane) => send(dying, lane, from, count)))
      await (killed ?? dying.kill())
      host = await hosts.start()
      const bad = await rejected(host)
      for (const [lane, end] of next.entries()) {
        const good = await stored(host, lane)
        const lost = bad.filter(({ device }) => device === deviceOf(lane)).map((one) => one.bad)
        // the one under way may be there too, without its answer
        expect(
          upToNumber(end, (n) => !isBad(n)).filter((n) => !good.includes(n)),
          `lane ${lane}`,
        ).toEqual([])
        expect(
          upToNumber(end, isBad).filter((n) => !lost.includes(n)),
          `lane ${lane}`,
        ).toEqual([])
        expect(good.length + lost.length).toBeLessThanOrEqual(end + 1)
      }
    }
    await Promise.all(next.map((from, lane) => send(host, lane, from, () => undefined)))
    const bad = await rejected(host)
    for (let lane = 0; lane < LANES; lane++) {
      expect(await stored(host, lane)).toEqual(upToNumber(PAYLOADS, (n) => !isBad(n)))
      const lost = bad.filter(({ device }) => device === deviceOf(lane)).map((one) => one.bad)
      expect(lost.toSorted((a, b) => a - b)).toEqual(upToNumber(PAYLOADS, isBad))
    }
  })
})
