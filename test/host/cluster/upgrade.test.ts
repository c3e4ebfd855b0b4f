/** Tests a rolling upgrade of a cluster: possible while both versions replay a log to the same states. */
import { scheduler } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { HOST_RECORDS } from '../../../src/cluster/placement/cluster-records.ts'
import { viewCluster } from '../../../src/cluster/placement/cluster-view.ts'
import { TTL_MS } from '../../../src/cluster/placement/placement.ts'
import type { Program } from '../../../src/cluster/placement/replay-number.ts'
import { HOST_TENANT } from '../../../src/host/auth/host-tenant.ts'
import { requireReplay } from '../../../src/host/cluster/require-replay.ts'
import { type RunningHost } from '../../../src/host/running-host.ts'
import type { Timers } from '../../../src/host/timers.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { basic } from '../sample-host.ts'
import { memoryHosts } from './memory-hosts.ts'

const COUNTED = {
  sensors: [{ label: 'seen', name: 'invokeCount', resource: '$' }],
  actuators: [{ label: 'told', name: 'createAlarm', properties: { type: 'SEEN' } }],
  // limited to once a day, so that a repeated alarm shows in the count
  triggers: [
    { sourceLabel: 'seen', destinationLabel: 'told', statesTrigger: ['Incremented'], invocationPolicy: 86_400 },
  ],
  task: { name: 'count', type: 'reactive', resource: 'boiler' },
}

it('hosts of two versions with one replay number hand over without a loss; a higher one begins when they are gone, and ends theirs', async () => {
  const cluster = await memoryHosts(0, { key: 'me', tenant: 'acme', functions: 'off' })
  const { storage } = cluster
  const start = (program: Program): Promise<RunningHost> => cluster.start({}, { program })
  const ask = async (host: RunningHost, path: string, body?: object): Promise<unknown> => {
    const headers = { authorization: basic('me', 's'), ...(body && { 'content-type': 'application/json' }) }
    const sent = body && { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(host.url + path, { headers, ...sent })
    const text = await answer.text()
    expect(answer.ok, text).toBe(true)
    return JSON.parse(text)
  }
  /** Posts with the same key until the message is acknowledged: the host may not know the tenant's new owner yet. */
  const post = async (host: RunningHost, n: number): Promise<void> => {
    const headers = { authorization: basic('me', 's'), 'content-type': 'application/json', 'idempotency-key': `n${n}` }
    for (;;) {
      const answer = await fetch(`${host.url}/resources/boiler/events`, { method: 'POST', headers, body: `{"n":${n}}` })
      await answer.text()
      if (answer.ok) return
      expect(answer.status).toBe(503)
      await scheduler.wait(20)
    }
  }
  const first = await start({ version: '1.0.0', replay: 1 })
  const { ID } = (await ask(first, '/api/tasks', COUNTED)) as { ID: string }
  const counted = async (host: RunningHost): Promise<unknown> => ask(host, `/api/tasks/${ID}`)
  await post(first, 1)

  const second = await start({ version: '1.1.0', replay: 1 })
  const { hosts } = await viewCluster(storage.tenant(HOST_TENANT))
  expect(hosts.map(({ version, replay, state }) => `${version} ${replay} ${state}`).sort()).toEqual([
    '1.0.0 1 live',
    '1.1.0 1 live',
  ])
  await post(first, 2)
  await post(second, 3)
  await first.stop()
  await post(second, 4)
  expect(await counted(second)).toMatchObject({ status: 'running', invocationCount: 4 })
  await second.stop()

  const third = await start({ version: '2.0.0', replay: 2 })
  await post(third, 5)
  expect(await counted(third)).toMatchObject({ status: 'running', invocationCount: 5 })
  expect(await ask(third, '/alarm/alarms?source=boiler')).toMatchObject({ alarms: [{ type: 'SEEN', count: 1 }] })
  await expect(start({ version: '1.1.0', replay: 1 })).rejects.toThrow(
    'this is version 1.1.0 with replay number 1, but the store was last used with 2: start a version with this number',
  )
  await cluster.stop()
})

it('a host is rejected while others with another number are there, and waits for one that only seems to be', async () => {
  let ms = 1_000_000
  const store = openMemory({ clock: () => ms }).tenant(HOST_TENANT)
  const records = store.collection(HOST_RECORDS)
  const record = { url: 'http://old', version: '1.0.0', replay: 1, seen: ms, joined: ms, isDraining: false }
  await records.put('old', record)
  let isBeating = true
  const timers: Timers = {
    elapsed: () => ms,
    after: (wait, work) => {
      ms += wait
      void (isBeating ? records.put('old', { ...record, seen: ms }) : Promise.resolve()).then(work)
      return () => undefined
    },
    every: () => () => undefined,
  }
  await expect(requireReplay(store, { version: '2.0.0', replay: 2 }, timers)).rejects.toThrow(
    'the host at http://old runs version 1.0.0 with replay number 1, and this is version 2.0.0 with replay number 2: the ' +
      'versions would replay a log to different states; stop all hosts with the other number first, then start this one',
  )
  isBeating = false
  const since = ms
  await requireReplay(store, { version: '2.0.0', replay: 2 }, timers)
  expect(ms - since).toBeGreaterThan(TTL_MS)
})
