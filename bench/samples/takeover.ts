/** Sample of the takeover of a killed or halted host: how long its tasks are unavailable. */
import { performance } from 'node:perf_hooks'
import { scheduler } from 'node:timers/promises'
import { ClusterProcesses, type MemberProcess } from '../../test/host/cluster/cluster-processes.ts'
import { postgresBinaries, startPostgres } from '../../test/support/start-postgres.ts'

export interface TakeoverSample {
  /** ms until a task of each of its tenants has accepted a message: of half of them, and of all */
  readonly half: number
  readonly all: number
  readonly tasks: number
}

const HOSTS = 3
/** tenants, and tasks of each: about a thousand tasks per host */
const TENANTS = 30
const TASKS = 100
const AT_ONCE = 20
const RULE = {
  name: 'counted',
  sensors: [{ label: 'seen', name: 'invokeCount', resource: '$' }],
  taskDefaults: { type: 'reactive' as const },
}

export async function takeoverSample({ subject }: { subject: 'killed' | 'halted' }): Promise<TakeoverSample> {
  const binaries = postgresBinaries()
  if (binaries === undefined) throw new Error('PostgreSQL 15 or later is not installed')
  const server = await startPostgres(binaries)
  const hosts = new ClusterProcesses(server.url)
  try {
    const tenants = Array.from({ length: TENANTS }, (_, n) => `tenant-${n}`)
    await hosts.addKeys(tenants)
    const entry = await hosts.start()
    const lost = await hosts.start()
    for (let n = 2; n < HOSTS; n += 1) await hosts.start()
    await hosts.settled(HOSTS)
    const post = async (tenant: string, path: string, body: object): Promise<{ owner: string; text: string }> => {
      const headers = { ...hosts.headersOf(tenant), 'content-type': 'application/json' }
      const answer = await fetch(`${entry.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return { owner: answer.headers.get('reflexarc-owner') ?? entry.url, text: await answer.text() }
    }
    const taken = JSON.stringify({ taken: true })
    const last = { resource: `boiler-${TASKS - 1}`, data: { parameterName: 'n', value: 1 } }
    const isTaken = async (tenant: string): Promise<boolean> => (await post(tenant, '/api/data', last)).text === taken
    const theirs: string[] = []
    for (const tenant of tenants) {
      await makeTasks(hosts, entry, tenant)
      // half of the tasks are ahead of their stored state
      for (let n = 0; n < TASKS; n += 2) await post(tenant, `/resources/boiler-${n}/events`, { n: 1 })
      const { owner, text } = await post(tenant, '/api/data', last)
      if (text !== taken) throw new Error(`a task of ${tenant} did not take a message: ${text}`)
      if (owner === lost.url) theirs.push(tenant)
    }
    const since = performance.now()
    if (subject === 'killed') void lost.kill()
    else lost.halt()
    const took = await Promise.all(
      theirs.map(async (tenant) => {
        while (!(await isTaken(tenant))) await scheduler.wait(10)
        return performance.now() - since
      }),
    )
    took.sort((a, b) => a - b)
    return { half: took[Math.floor(took.length / 2)] ?? 0, all: took.at(-1) ?? 0, tasks: theirs.length * TASKS }
  } finally {
    await hosts.end()
    await server.stop()
  }
}

async function makeTasks(hosts: ClusterProcesses, entry: MemberProcess, tenant: string): Promise<void> {
  const { rules } = hosts.clientOf(entry.url, tenant)
  await rules.templates.create(RULE)
  for (let first = 0; first < TASKS; first += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, (_, n) => `boiler-${first + n}`)
    await Promise.all(some.map((resource) => rules.tasks.create({ template: 'counted', name: resource, resource })))
  }
}
