/**
 * Hosts of a cluster that are killed, halted and told to stop, and whose database fails over, while messages stream in: each time one that
 * has a partition of a tenant with several, and some of the tenants with one. In the end each task is as if one host had
 * been there all the time, and a reader who went on at other hosts has missed nothing.
 */
import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Template } from '../../../src/index.ts'
import { describeWithPostgres } from '../../support/postgres-server.ts'
import { postgresBinaries } from '../../support/start-postgres.ts'
import { ClusterProcesses, type MemberProcess } from './cluster-processes.ts'
import { LaneReader } from './lane-reader.ts'
import { seen, Senders, type Lane } from './lanes.ts'
import { WIDE, WideTenant } from './wide-tenant.ts'
import { PostgresPair } from './postgres-pair.ts'

const TENANTS = Array.from({ length: 4 }, (_, n) => `tenant-${n}`)
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

  it('every acknowledged message is in the state of its task exactly once, and waits and cool-downs go on', async () => {
    await hosts.addKeys([...TENANTS, WIDE])
    const first = await hosts.start()
    const asked = new Set<MemberProcess>([first, ...(await Promise.all([hosts.start(), hosts.start()]))])
    const lanes = await Promise.all(TENANTS.flatMap((tenant) => makeLanes(hosts, first, tenant)))
    const wide = await WideTenant.make(pair.url, hosts, asked)
    const waits = await Promise.all(TENANTS.map((tenant) => beginWait(hosts, first, tenant)))

    const all = [...lanes, ...wide.lanes]
    const over = new AbortController()
    const readers = wide.lanes.map((lane) => new LaneReader(hosts, asked, lane, over.signal))
    const senders = new Senders(hosts, asked, all)
    /** a message of each tenant, sent now, gets its answer from one that is asked */
    const allGoOn = async (): Promise<void> => {
      for (const lane of all) await seen(hosts, asked, lane)
    }

    /** whoever has that partition is asked no more */
    const takeAway = async (path: string): Promise<MemberProcess> => {
      const owner = await ownerOf(hosts, asked, path)
      asked.delete(owner)
      return owner
    }

    await senders.more(BETWEEN)
    const killed = await takeAway(wide.pathOfAll)
    await killed.kill()
    await allGoOn()
    asked.add(await hosts.start())
    await hosts.settled(3)
    await senders.more(BETWEEN)

    const [, late = expect.fail('no lane')] = wide.lanes
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

    const ended = await takeAway('/')
    expect(await ended.terminate()).toBe(0)
    await senders.more(BETWEEN)

    // the database is gone for good, and its synchronous standby takes its place
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
    // some is handed to other partitions after it was acknowledged
    await expect.poll(() => wide.problems(), { timeout: 30_000 }).toEqual([])
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

/** Messages at whoever has the partition of the lane, and has it still when all of them have begun. */
async function beginPosts(hosts: ClusterProcesses, asked: ReadonlySet<MemberProcess>, lane: Lane) {
  for (;;) {
    const owner = await ownerOf(hosts, asked, pathOf(lane))
    const begun = await Promise.all(Array.from({ length: LATE }, (_, n) => beginPost(hosts, owner, lane, n)))
    // what is asked later is answered
    if (await isOwner(hosts, owner, pathOf(lane))) return { owner, begun }
    for (const { giveUp } of begun) giveUp()
  }
}

/** A message of which its host has all but the end of the body; `finish` sends that, and `answer` is the status, if there is one. */
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

/** What whoever has the partition of the resource answers. */
function pathOf({ resource }: Lane): string {
  return `/resources/${resource}/current`
}

/** Who has what is asked for at the path. */
async function ownerOf(
  hosts: ClusterProcesses,
  asked: ReadonlySet<MemberProcess>,
  path: string,
): Promise<MemberProcess> {
  for (;;) for (const host of asked) if (await isOwner(hosts, host, path)) return host
}

/** Whether the host answers for the tenant with partitions without asking another. */
async function isOwner(hosts: ClusterProcesses, host: MemberProcess, path: string): Promise<boolean> {
  const answer = await fetch(host.url + path, { headers: hosts.headersOf(WIDE) })
  await answer.text()
  return answer.ok && !answer.headers.has('reflexarc-owner')
}
