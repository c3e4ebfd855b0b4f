/**
 * The whole host, killed with -9 again and again while rules raise alarms and hear them. Every message that was
 * acknowledged raised its alarm once, every event of an alarm was heard once, and whoever follows the stream has no hole.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import { cases } from '../support/arbitraries/runs.ts'
import { HostProcesses, type HostProcess } from './host-process.ts'

const KILLS = cases(2)
const LANES = 6
/** messages in all, each lane its part */
const MESSAGES = cases(120)

const folder = mkdtempSync(join(tmpdir(), 'reflexarc-alarms-'))
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

async function post(host: HostProcess, path: string, body: object): Promise<void> {
  const headers = { ...host.headers, 'content-type': 'application/json' }
  const answer = await fetch(`${host.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(await answer.text())
}

const sensor = (label: string, name: string, properties: object) => ({ label, name, resource: '$', properties })
const raising = (type: string) => ({ label: 'raise', name: 'createAlarm', properties: { type, text: '' } })
const always = (states: readonly string[]) => [
  { sourceLabel: 'seen', destinationLabel: 'raise', statesTrigger: states, invocationPolicy: 0 },
]
const ruleOf = (seen: object, type: string, states: readonly string[], resource: string) => ({
  sensors: [seen],
  actuators: [raising(type)],
  triggers: always(states),
  task: { name: type, type: 'reactive', resource },
})

const resourceOf = (lane: number): string => `boiler-${lane}`

/** One message after the other until the process is gone; gives how many were acknowledged. */
async function stream(host: HostProcess, lane: number, count: number, acknowledged: () => void): Promise<number> {
  for (let n = 0; n < count; n++) {
    try {
      await post(host, `/resources/${resourceOf(lane)}`, { n })
    } catch (error) {
      if (!host.isKilled) throw error
      return n
    }
    acknowledged()
  }
  return count
}

async function countOf(host: HostProcess, type: string, lane: number): Promise<number> {
  const { alarms } = await host.client.alarms.list({ type, source: resourceOf(lane), history: false })
  expect(alarms.length).toBeLessThanOrEqual(1)
  return alarms[0]?.count ?? 0
}

/** Ids of events that come until there have been so many. */
async function follow(host: HostProcess, after: string, most: number): Promise<readonly string[]> {
  const gone = new AbortController()
  const ids: string[] = []
  for await (const { id } of host.client.alarms.events({ after, signal: gone.signal })) {
    ids.push(id)
    if (ids.length >= most) gone.abort()
  }
  return ids
}

describe('a host that is killed while rules raise alarms and hear them', () => {
  it(`counts each message and each event once (FC_SEED=${seed})`, async () => {
    let host = await hosts.start()
    for (let lane = 0; lane < LANES; lane++) {
      const resource = resourceOf(lane)
      const message = sensor('seen', 'condition', { condition: 'n >= 0' })
      await post(host, '/api/tasks', ruleOf(message, 'SENT', ['True'], resource))
      const event = sensor('seen', 'AlarmEventSensor', { type: 'SENT' })
      await post(host, '/api/tasks', ruleOf(event, 'HEARD', ['Created', 'Occurred again'], resource))
    }
    const least = Array.from({ length: LANES }, () => 0)
    for (let kills = 0; kills <= KILLS; kills++) {
      const present = host
      const deadline = kills === KILLS ? Number.POSITIVE_INFINITY : 1 + upTo(MESSAGES / (KILLS + 1))
      let acknowledged = 0
      let killed: Promise<void> | undefined
      const count = (): void => {
        if (++acknowledged >= deadline) killed ??= present.kill()
      }
      const share = Math.ceil(MESSAGES / LANES / (KILLS + 1))
      const done = await Promise.all(least.map((_, lane) => stream(present, lane, share, count)))
      done.forEach((n, lane) => (least[lane] = (least[lane] ?? 0) + n))
      if (kills === KILLS) break
      await (killed ?? present.kill())
      host = await hosts.start()
    }
    let total = 0
    for (let lane = 0; lane < LANES; lane++) {
      const acknowledged = least[lane] ?? 0
      await expect.poll(() => countOf(host, 'SENT', lane)).toBeGreaterThanOrEqual(acknowledged)
      await expect.poll(async () => (await countOf(host, 'HEARD', lane)) - (await countOf(host, 'SENT', lane))).toBe(0)
      // One of each host may have been under way: it is there or not, and then once.
      expect(await countOf(host, 'SENT', lane)).toBeLessThanOrEqual(acknowledged + KILLS)
      total += 2 * (await countOf(host, 'SENT', lane))
    }
    const ids = await follow(host, '0', total)
    expect(ids).toEqual(Array.from({ length: total }, (_, i) => String(i + 1)))
    await host.kill()
  })
})
