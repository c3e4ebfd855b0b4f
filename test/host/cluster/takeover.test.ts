/**
 * Hosts of a cluster that are killed, halted and told to stop while messages stream in at all of them. In the end each
 * task is as if one host had been there all the time.
 */
import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Template } from '../../../src/index.ts'
import { describeWithPostgres, type PostgresServer } from '../../support/postgres-server.ts'
import { ClusterProcesses, type MemberProcess } from './cluster-processes.ts'
import { post, seen, type Lane } from './lanes.ts'

const TENANTS = Array.from({ length: 6 }, (_, n) => `tenant-${n}`)
/** resources of a tenant; the messages of one come after each other */
const LANES = 2
/** acknowledged messages between two things that happen to hosts */
const BETWEEN = 40
/** messages of which a host has the head, and the tenant of which it has no more when it reads the rest */
const LATE = 4

const COUNTED: Template = {
  name: 'counted',
  sensors: [{ label: 'seen', name: 'invokeCount', resource: '$' }],
  actuators: [{ label: 'told', name: 'createAlarm', properties: { type: 'SEEN' } }],
  // once an hour at most: a second alarm would be counted
  triggers: [{ sourceLabel: 'seen', destinationLabel: 'told', statesTrigger: ['Incremented'], invocationPolicy: 3600 }],
  taskDefaults: { type: 'reactive' },
}

/** ms: longer than a takeover, so that a wait begins at one host and ends at another */
const SILENCE = 5_000
const WAITING: Template = {
  name: 'waiting',
  sensors: [
    { label: 'beat', name: 'stream', resource: '$' },
    { label: 'silence', name: 'delaySensor', properties: { delay: SILENCE } },
  ],
  triggers: [{ sourceLabel: 'beat', destinationLabel: 'silence' }],
  taskDefaults: { type: 'reactive' },
}

describeWithPostgres('hosts of a cluster that come and go', (startServer) => {
  let server: PostgresServer
  let hosts: ClusterProcesses
  beforeAll(async () => {
    server = await startServer()
    hosts = new ClusterProcesses(server.url)
  })
  afterAll(async () => {
    await hosts.end()
    await server.stop()
  })

  it('every acknowledged message is in the state of its task exactly once, and waits and cool-downs go on', async () => {
    await hosts.addKeys(TENANTS)
    const first = await hosts.start()
    const asked = new Set<MemberProcess>([first, ...(await Promise.all([hosts.start(), hosts.start()]))])
    const lanes = await Promise.all(TENANTS.flatMap((tenant) => makeLanes(hosts, first, tenant)))
    const waits = await Promise.all(TENANTS.map((tenant) => beginWait(hosts, first, tenant)))

    const over = new AbortController()
    let acknowledged = 0
    const sending = lanes.map(async (lane) => {
      while (!over.signal.aborted) {
        await post(hosts, asked, lane)
        lane.sent += 1
        acknowledged += 1
      }
    })
    const more = (): Promise<void> => {
      const wanted = acknowledged + BETWEEN
      return expect.poll(() => acknowledged, { timeout: 60_000, interval: 20 }).toBeGreaterThan(wanted)
    }
    /** a message of each tenant, sent now, gets its answer from one that is asked */
    const allGoOn = async (): Promise<void> => {
      for (const lane of lanes) await seen(hosts, asked, lane)
    }

    /** whoever has the tenant is asked no more */
    const takeAway = async (tenant = ''): Promise<MemberProcess> => {
      const owner = await ownerOf(hosts, asked, tenant)
      asked.delete(owner)
      return owner
    }

    await more()
    const killed = await takeAway(TENANTS[0])
    await killed.kill()
    await allGoOn()
    asked.add(await hosts.start())
    await hosts.settled(3)
    await more()

    const halted = await takeAway(TENANTS[1])
    const late = lanes.find(({ tenant }) => tenant === TENANTS[1]) ?? expect.fail('no lane')
    const begun = await Promise.all(Array.from({ length: LATE }, (_, n) => beginPost(hosts, halted, late, n)))
    // what was asked later was answered
    await ownerOf(hosts, new Set([halted]), late.tenant)
    halted.halt()
    for (const { finish } of begun) finish()
    await allGoOn()
    await more()
    halted.goOn()
    asked.add(halted)
    // Holds FENCE-1
    expect(await Promise.all(begun.map(({ answer }) => answer))).toEqual(begun.map(() => 503))
    await more()

    const ended = await takeAway(TENANTS[2])
    expect(await ended.terminate()).toBe(0)
    await more()
    over.abort()
    await Promise.all(sending)

    const [rest] = asked
    const url = rest?.url ?? ''

    for (const lane of lanes) {
      expect([lane.resource, await seen(hosts, asked, lane)]).toEqual([lane.resource, lane.sent])
      const { alarms } = hosts.clientOf(url, lane.tenant)
      const found = await alarms.list({ source: lane.resource })
      expect(found.alarms.map(({ type, count }) => [type, count])).toEqual([['SEEN', 1]])
    }
    for (const { tenant, task, begun } of waits) {
      const { inspection } = hosts.clientOf(url, tenant).rules
      const stateOf = async () => (await inspection.node(task, 'silence')).mostLikelyState?.state
      await expect.poll(stateOf, { timeout: 30_000 }).toBe('Triggered')
      const { collectedTime = 0 } = await inspection.node(task, 'silence')
      expect(collectedTime, 'not before its time').toBeGreaterThanOrEqual(begun + SILENCE)
    }
  })
})

function makeLanes(hosts: ClusterProcesses, host: MemberProcess, tenant: string): readonly Promise<Lane>[] {
  const { rules } = hosts.clientOf(host.url, tenant)
  const ready = Promise.all([rules.templates.create(COUNTED), rules.templates.create(WAITING)])
  return Array.from({ length: LANES }, async (_, n) => {
    await ready
    const resource = `${tenant}-boiler-${n}`
    const { ID } = await rules.tasks.create({ template: 'counted', name: resource, resource })
    return { tenant, resource, task: ID, sent: 0 }
  })
}

async function beginWait(hosts: ClusterProcesses, host: MemberProcess, tenant: string) {
  const { rules } = hosts.clientOf(host.url, tenant)
  const { ID } = await rules.tasks.create({ template: 'waiting', name: 'wait', resource: 'waiting' })
  const begun = Date.now()
  await rules.tools.push({ resource: 'waiting', data: [{ parameterName: 'n', value: 1 }] })
  return { tenant, task: ID, begun }
}

/** A message of which its host has all but the end of the body; `finish` sends that, and `answer` is the status. */
async function beginPost(hosts: ClusterProcesses, host: MemberProcess, { tenant, resource }: Lane, n: number) {
  const body = JSON.stringify({ late: n })
  const headers = {
    ...hosts.headersOf(tenant),
    'content-type': 'application/json',
    'content-length': body.length,
    expect: '100-continue',
  }
  const posting = request(`${host.url}/resources/${resource}/events`, { method: 'POST', headers })
  const answer = new Promise<number | undefined>((resolve, reject) => {
    posting.on('response', (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    posting.on('error', reject)
  })
  posting.flushHeaders()
  await new Promise((resolve) => posting.once('continue', resolve))
  posting.write(body.slice(0, 5))
  return { answer, finish: () => void posting.end(body.slice(5)) }
}

/** Who answers without asking another. */
async function ownerOf(
  hosts: ClusterProcesses,
  asked: ReadonlySet<MemberProcess>,
  tenant: string,
): Promise<MemberProcess> {
  for (;;) {
    for (const host of asked) {
      const answer = await fetch(`${host.url}/`, { headers: hosts.headersOf(tenant) })
      await answer.text()
      if (answer.ok && !answer.headers.has('reflexarc-owner')) return host
    }
  }
}
