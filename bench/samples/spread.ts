/** One sample: what a message costs hosts and PostgreSQL when the load rises with the number of hosts. */
import { performance } from 'node:perf_hooks'
import { scheduler } from 'node:timers/promises'
import { ClusterProcesses, type MemberProcess } from '../../test/host/cluster/cluster-processes.ts'
import { postgresBinaries, startPostgres } from '../../test/support/start-postgres.ts'
import { Connection } from './host/connection.ts'
import { cpuOf, cpuOfServer } from './server-cpu.ts'

export interface SpreadSample {
  /** CPU time of all hosts a message, us */
  readonly hosts: number
  /** CPU time of the PostgreSQL a message, us */
  readonly server: number
  /** messages that were acknowledged a second */
  readonly perSecond: number
}

/** for each host */
const TENANTS = 4
const CONNECTIONS = 8
/** messages a second that are sent for each host: as many as all of them can take on a small machine */
const RATE = 250
const SECONDS = 8
const WARM_SECONDS = 3

const RULE = {
  name: 'counted',
  sensors: [{ label: 'seen', name: 'invokeCount', resource: '$' }],
  taskDefaults: { type: 'reactive' as const },
}

/** Whoever sends knows the owner. */
export async function spreadSample(count: number): Promise<SpreadSample> {
  const binaries = postgresBinaries()
  if (binaries === undefined) throw new Error('no PostgreSQL 15 or later is installed')
  const server = await startPostgres(binaries)
  const cluster = new ClusterProcesses(server.url)
  const open: Connection[] = []
  try {
    const tenants = Array.from({ length: TENANTS * count }, (_, n) => `tenant-${n}`)
    await cluster.addKeys(tenants)
    const hosts: MemberProcess[] = []
    while (hosts.length < count) hosts.push(await cluster.start())
    await cluster.settled(count)
    for (const tenant of tenants) {
      const url = await makeTask(cluster, hosts, tenant)
      const { authorization } = cluster.headersOf(tenant)
      const made = await Promise.all(
        Array.from({ length: CONNECTIONS / TENANTS }, () => Connection.open(Number(new URL(url).port), authorization)),
      )
      open.push(...made)
    }
    await paced(open, RATE * count, WARM_SECONDS)
    const pids = hosts.map(({ pid }) => pid)
    const before = { hosts: cpuOf(pids), server: cpuOfServer(server) }
    const began = performance.now()
    const sent = await paced(open, RATE * count, SECONDS)
    const seconds = (performance.now() - began) / 1_000
    return {
      hosts: (cpuOf(pids) - before.hosts) / sent,
      server: (cpuOfServer(server) - before.server) / sent,
      perSecond: sent / seconds,
    }
  } finally {
    for (const one of open) one.close()
    await cluster.end()
    await server.stop()
  }
}

/** Gives the address of the host that has the tenant. */
async function makeTask(cluster: ClusterProcesses, [asked]: readonly MemberProcess[], tenant: string): Promise<string> {
  const url = asked?.url ?? ''
  const { rules } = cluster.clientOf(url, tenant)
  await rules.templates.create(RULE)
  await rules.tasks.create({ template: 'counted', name: 'count', resource: 'boiler-0' })
  const answer = await fetch(`${url}/`, { headers: cluster.headersOf(tenant) })
  await answer.text()
  return answer.headers.get('reflexarc-owner') ?? url
}

/** Sends so many a second over all connections, each waiting for its answers; gives how many. */
async function paced(connections: readonly Connection[], rate: number, seconds: number): Promise<number> {
  const began = performance.now()
  const all = rate * seconds
  let sent = 0
  const send = async (connection: Connection): Promise<void> => {
    while (sent < all) {
      const n = sent
      sent += 1
      const early = began + (n * 1_000) / rate - performance.now()
      if (early > 0) await scheduler.wait(early)
      await connection.expect(200, 'POST', '/resources/boiler-0/events', `{"temperature":${n % 100}}`)
    }
  }
  await Promise.all(connections.map(send))
  return sent
}
