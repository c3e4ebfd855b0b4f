/** One sample: what a message costs a host that is alone on a PostgreSQL, one of a cluster, and one that hands it on. */
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { postgresBinaries, startPostgres } from '../../test/support/start-postgres.ts'
import type { Connection } from './host/connection.ts'
import { withFolder } from './host/folder.ts'
import { startHostProcess, type HostProcess } from './host/host-process.ts'

/** `forwarded`: asked is the host that has not the tenant */
export type ClusterSubject = 'alone' | 'cluster' | 'forwarded'

export interface ClusterSample {
  /** CPU time of all hosts a message, us */
  readonly cpu: number
  readonly perSecond: number
}

const CONNECTIONS = 32
const WARM = 3_000
const MESSAGES = 10_000
const SENSOR = { label: 'seen', name: 'invokeCount', resource: '$' }

export async function clusterSample(subject: ClusterSubject): Promise<ClusterSample> {
  const binaries = postgresBinaries()
  if (binaries === undefined) throw new Error('no PostgreSQL 15 or later is installed')
  const server = await startPostgres(binaries)
  const hosts: HostProcess[] = []
  try {
    return await withFolder(async (folder) => {
      const store = ['--store', server.url]
      const member = ['--cluster', '--blobs', join(folder, 'objects')]
      const start = async (name: string): Promise<HostProcess> => {
        const host = await startHostProcess(join(folder, name), subject === 'alone' ? store : [...store, ...member])
        hosts.push(host)
        return host
      }
      const first = await start('one')
      const [connection] = await first.connect(1)
      const task = { task: { name: 'count', type: 'reactive', resource: 'boiler-0' }, sensors: [SENSOR] }
      await connection?.expect(201, 'POST', '/api/tasks', JSON.stringify(task))
      const asked = subject === 'forwarded' ? await notOwner(first, await start('two')) : first
      const connections = await asked.connect(CONNECTIONS)
      await post(connections, WARM)
      for (const host of hosts) await host.figures()
      const began = performance.now()
      await post(connections, MESSAGES)
      const seconds = (performance.now() - began) / 1_000
      let cpu = 0
      for (const host of hosts) cpu += (await host.figures()).cpu
      return { cpu: (cpu * 1_000) / MESSAGES, perSecond: MESSAGES / seconds }
    })
  } finally {
    await Promise.all(hosts.map((host) => host.stop()))
    await server.stop()
  }
}

/** Slots move in the first second; then one of the two hands on what the other has. */
async function notOwner(first: HostProcess, second: HostProcess): Promise<HostProcess> {
  for (;;) {
    for (const host of [first, second]) {
      const [connection] = await host.connect(1)
      const before = await forwarded(connection)
      await connection?.expect(200, 'GET', '/')
      if ((await forwarded(connection)) > before) return host
    }
  }
}

async function forwarded(connection: Connection | undefined): Promise<number> {
  const text = (await connection?.expect(200, 'GET', '/metrics')) ?? ''
  return Number(/thing="cluster-forwarded"\} (\d+)/.exec(text)?.[1] ?? 0)
}

async function post(connections: readonly Connection[], count: number): Promise<void> {
  let left = count
  await Promise.all(
    connections.map(async (connection, n) => {
      while (left > 0) {
        left -= 1
        const body = JSON.stringify({ temperature: left % 100 })
        await connection.expect(200, 'POST', `/resources/boiler-${n}/events`, body)
      }
    }),
  )
}
