/**
 * Kills, suspends and stops hosts of a cluster, and makes its database fail over, while messages are sent. At the end
 * each task must be in the same state as with a single host that was always available, and readers that changed hosts
 * must have missed nothing.
 */
import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Template } from '../../../src/index.ts'
import { describeWithPostgres } from '../../support/postgres-server.ts'
import { postgresBinaries } from '../../support/start-postgres.ts'
import { ClusterProcesses, type MemberProcess } from './cluster-processes.ts'
import { LaneReader } from './lane-reader.ts'
import { seen, Senders, type Lane } from './lanes.ts'
import { PostgresPair } from './postgres-pair.ts'

const TENANTS = ['tenant-0', 'tenant-1', 'tenant-2', 'tenant-3'] as const
const [firstTenant, , , lastTenant] = TENANTS
/** Resources per tenant; the messages of a resource are sent one after another */
const LANES = 2
/** Number of acknowledged messages between two faults */
const BETWEEN = 40
/** Number of messages whose head a host receives before it loses their tenant, and whose body it reads afterwards */
const LATE = 4

const COUNTED: Template = {
  name: 'counted',
  sensors: [{ label: 'seen', name: 'invokeCount', resource: '$' }],
  actuators: [{ label: 'told', name: 'createAlarm', properties: { type: 'SEEN' } }],
  // limited to once an hour, so that a repeated alarm shows in the count
  triggers: [{ sourceLabel: 'seen', destinationLabel: 'told', statesTrigger: ['Incremented'], invocationPolicy: 3600 }],
  taskDefaults: { type: 'reactive' },
}

/** Duration in ms: longer than a takeover, so that a wait begins at one host and ends at another */
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

describeWithPostgres('hosts of a cluster that come and go', () => {
  let pair: PostgresPair
  let hosts: ClusterProcesses
  beforeAll(async () => {
    pair = await PostgresPair.start(postgresBinaries() ?? '')
    hosts = new ClusterProcesses(pair.url)
  })
  afterAll(async () => {
    await hosts.end()
    await pair.stop()
  })

  it('every acknowledged message is in the state of its task exactly once, and waits and cool-downs continue', async () => {
    await hosts.addKeys(TENANTS)
    const first = await hosts.start()
    const asked = new Set<MemberProcess>([first, ...(await Promise.all([hosts.start(), hosts.start()]))])
    const lanes = await Promise.all(TENANTS.flatMap((tenant) => makeLanes(hosts, first, tenant)))
    const waits = await Promise.all(TENANTS.map((tenant) => beginWait(hosts, first, tenant)))

    const over = new AbortController()
    const readers = lanes.map((lane) => new LaneReader(hosts, asked, lane, over.signal))
    const senders = new Senders(hosts, asked, lanes)
    /** a new message of each tenant is answered by an available host */
    const allGoOn = async (): Promise<void> => {
      for (const lane of lanes) await seen(hosts, asked, lane)
    }

    /** removes the owner of the tenant from the available hosts */
    const takeAway = async (tenant: string): Promise<MemberProcess> => {
      const owner = await ownerOf(hosts, asked, tenant)
      asked.delete(owner)
      return owner
    }

    await senders.more(BETWEEN)
    const killed = await takeAway(firstTenant)
    await killed.kill()
    await allGoOn()
    asked.add(await hosts.start())
    await hosts.settled(3)
    await senders.more(BETWEEN)

    const [, late = expect.fail('no lane')] = lanes
    const { owner: halted, begun } = await beginPosts(hosts, asked, late)
    asked.delete(halted)
    halted.halt()
    for (const { finish } of begun) finish()
    await allGoOn()
    await senders.more(BETWEEN)
    halted.goOn()
    asked.add(halted)
    // Holds FENCE-1
    expect(await Promise.all(begun.map(({ answer }) => answer))).toEqual(begun.map(() => 503))
    await senders.more(BETWEEN)

    const ended = await takeAway(lastTenant)
    expect(await ended.terminate()).toBe(0)
    await senders.more(BETWEEN)

    // the old database is lost, and its synchronous standby replaces it
    await pair.failOver()
    await senders.more(BETWEEN)
    await senders.end()
    over.abort()

    const [rest] = asked
    const url = rest?.url ?? ''

    for (const lane of lanes) {
      expect([lane.resource, await seen(hosts, asked, lane)]).toEqual([lane.resource, lane.sent])
      const { alarms } = hosts.clientOf(url, lane.tenant)
      const found = await alarms.list({ source: lane.resource })
      expect(found.alarms.map(({ type, count }) => [type, count])).toEqual([['SEEN', 1]])
    }
    expect((await Promise.all(readers.map((reader) => reader.problems()))).flat()).toEqual([])
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

/** Begins posts at the owner of the lane's tenant, and verifies that it is still the owner afterwards. */
async function beginPosts(hosts: ClusterProcesses, asked: ReadonlySet<MemberProcess>, lane: Lane) {
  for (;;) {
    const owner = await ownerOf(hosts, asked, lane.tenant)
    const begun = await Promise.all(Array.from({ length: LATE }, (_, n) => beginPost(hosts, owner, lane, n)))
    // the owner still answers
    if (await isOwner(hosts, owner, lane.tenant)) return { owner, begun }
    for (const { giveUp } of begun) giveUp()
  }
}

/**
 * Begins a post whose host has received all but the body's end. `finish` sends the rest; `answer` resolves to the
 * status, or to the error's message.
 */
async function beginPost(hosts: ClusterProcesses, host: MemberProcess, { tenant, resource }: Lane, n: number) {
  const body = JSON.stringify({ late: n })
  const headers = {
    ...hosts.headersOf(tenant),
    'content-type': 'application/json',
    'content-length': body.length,
    expect: '100-continue',
  }
  const posting = request(`${host.url}/resources/${resource}/events`, { method: 'POST', headers })
  const answer = new Promise<number | string | undefined>((resolve) => {
    posting.on('response', (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    posting.on('error', (error) => resolve(error.message))
  })
  posting.flushHeaders()
  await new Promise((resolve) => posting.once('continue', resolve))
  posting.write(body.slice(0, 5))
  return { answer, finish: () => void posting.end(body.slice(5)), giveUp: () => void posting.destroy() }
}

/** Returns the host that owns the tenant. */
async function ownerOf(
  hosts: ClusterProcesses,
  asked: ReadonlySet<MemberProcess>,
  tenant: string,
): Promise<MemberProcess> {
  for (;;) for (const host of asked) if (await isOwner(hosts, host, tenant)) return host
}

/** Whether a host answers for the tenant without forwarding. */
async function isOwner(hosts: ClusterProcesses, host: MemberProcess, tenant: string): Promise<boolean> {
  const answer = await fetch(`${host.url}/`, { headers: hosts.headersOf(tenant) })
  await answer.text()
  return answer.ok && !answer.headers.has('reflexarc-owner')
}
