/** One sample: how long the tasks of a host of a cluster are nowhere after it was killed, or stands still. */
import { performance } from 'node:perf_hooks'
import { scheduler } from 'node:timers/promises'
import { ClusterProcesses, type MemberProcess } from '../../test/host/cluster/cluster-processes.ts'
import { postgresBinaries, startPostgres } from '../../test/support/start-postgres.ts'

export type TakeoverSubject = 'killed' | 'halted'

export interface TakeoverSample {
  /** ms until a message to each of its tenants was acknowledged: of half of them, and of all */
  readonly half: number
  readonly all: number
}

const HOSTS = 3
/** tenants, and tasks of each: about a thousand tasks for a host */
const TENANTS = 30
const TASKS = 100
const AT_ONCE = 20
const RULE = {
  name: 'counted',
  sensors: [{ label: 'seen', name: 'invokeCount', resource: '$' }],
  taskDefaults: { type: 'reactive' as const },
}

export async function takeoverSample(subject: TakeoverSubject): Promise<TakeoverSample> {
  const binaries = postgresBinaries()
  if (binaries === undefined) throw new Error('no PostgreSQL 15 or later is installed')
  const server = await startPostgres(binaries)
  const hosts = new ClusterProcesses(server.url)
  try {
    const tenants = Array.from({ length: TENANTS }, (_, n) => `tenant-${n}`)
    await hosts.addKeys(tenants)
    const asked = await hosts.start()
    const lost = await hosts.start()
    for (let n = 2; n < HOSTS; n += 1) await hosts.start()
    await hosts.settled(HOSTS)
    const post = async (tenant: string, resource: string): Promise<Response> => {
      const headers = { ...hosts.headersOf(tenant), 'content-type': 'application/json' }
      const answer = await fetch(`${asked.url}/resources/${resource}/events`, {
        method: 'POST',
        headers,
        body: '{"n":1}',
      })
      await answer.text()
      return answer
    }
    const theirs: string[] = []
    for (const tenant of tenants) {
      await makeTasks(hosts, asked, tenant)
      // half of the tasks are ahead of what is stored of them
      for (let n = 0; n < TASKS; n += 2) await post(tenant, `boiler-${n}`)
      if ((await post(tenant, 'boiler-0')).headers.get('reflexarc-owner') === lost.url) theirs.push(tenant)
    }
    const since = performance.now()
    if (subject === 'killed') void lost.kill()
    else lost.halt()
    const took = await Promise.all(
      theirs.map(async (tenant) => {
        while (!(await post(tenant, 'boiler-0')).ok) await scheduler.wait(10)
        return performance.now() - since
      }),
    )
    took.sort((a, b) => a - b)
    return { half: took[Math.floor(took.length / 2)] ?? 0, all: took.at(-1) ?? 0 }
  } finally {
    await hosts.end()
    await server.stop()
  }
}

async function makeTasks(hosts: ClusterProcesses, asked: MemberProcess, tenant: string): Promise<void> {
  const { rules } = hosts.clientOf(asked.url, tenant)
  await rules.templates.create(RULE)
  for (let first = 0; first < TASKS; first += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, (_, n) => `boiler-${first + n}`)
    await Promise.all(some.map((resource) => rules.tasks.create({ template: 'counted', name: resource, resource })))
  }
}
