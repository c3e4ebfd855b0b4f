/**
 * The database of a cluster falls for good while messages stream in, and its synchronous standby is promoted: what was
 * acknowledged is in the state of its task once, also of a tenant at several hosts, and where a rule hears resources of
 * several partitions.
 */
import { scheduler } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Rule } from '../../../src/index.ts'
import { raisePartitions } from '../../../src/host/cluster/raise-partitions.ts'
import { partitionOf } from '../../../src/partitions/partition.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openPostgres } from '../../../src/storage/postgres/open.ts'
import { describeWithPostgres } from '../../support/postgres-server.ts'
import { postgresBinaries } from '../../support/start-postgres.ts'
import { ClusterProcesses, type MemberProcess } from './cluster-processes.ts'
import { post, seen, type Lane } from './lanes.ts'
import { PostgresPair } from './postgres-pair.ts'

const TENANT = 'acme'
const PARTITIONS = 3
const RESOURCES = ['pump-0', 'pump-1', 'pump-2', 'pump-3']
/** acknowledged messages before and after */
const BETWEEN = 40

function ruleOn(resource: string, others: readonly string[] = []): Rule {
  const sensors = [resource, ...others].map((heard, n) => ({
    label: n === 0 ? 'seen' : `seen${n}`,
    name: 'invokeCount',
    resource: heard,
  }))
  return { sensors, task: { name: resource, type: 'reactive', resource } }
}

describeWithPostgres('a cluster whose database fails over', () => {
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

  it('every acknowledged message is in the state of its task exactly once', async () => {
    await hosts.addKeys([TENANT])
    const first = await hosts.start()
    const asked = new Set<MemberProcess>([first, await hosts.start()])
    await hosts.settled(2)
    const { rules } = hosts.clientOf(first.url, TENANT)
    const storage = await openPostgres({ url: pair.url, blobs: openMemoryBlobs() })
    try {
      await post(hosts, asked, { tenant: TENANT, resource: 'first', task: '', sent: 0 })
      await raisePartitions(storage, TENANT, PARTITIONS)
    } finally {
      await storage.close()
    }
    expect(new Set(RESOURCES.map((resource) => partitionOf(resource, PARTITIONS))).size).toBeGreaterThan(1)
    const make = async (resource: string, others?: readonly string[]): Promise<string> => {
      for (;;) {
        // partitions are opened anew meanwhile
        const made = await rules.tasks.create(ruleOn(resource, others)).catch(() => undefined)
        if (made !== undefined) return made.ID
        await scheduler.wait(50)
      }
    }
    const lanes: Lane[] = []
    for (const resource of RESOURCES) lanes.push({ tenant: TENANT, resource, task: await make(resource), sent: 0 })
    const [own = '', ...others] = RESOURCES
    const all = await make(own, others)

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
    await more()
    await pair.failOver()
    await more()
    over.abort()
    await Promise.all(sending)

    for (const lane of lanes) {
      expect([lane.resource, await seen(hosts, asked, lane)]).toEqual([lane.resource, lane.sent])
    }
    const heard = async (): Promise<readonly number[]> => {
      const nodes = RESOURCES.map((_, n) => rules.inspection.node(all, n === 0 ? 'seen' : `seen${n}`))
      return (await Promise.all(nodes)).map(({ rawData }) => (rawData as { count?: number } | undefined)?.count ?? 0)
    }
    // handed over after they were acknowledged
    await expect.poll(heard, { timeout: 30_000 }).toEqual(lanes.map(({ sent }) => sent))
  })
})
