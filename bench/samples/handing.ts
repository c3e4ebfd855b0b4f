/**
 * One sample: what it costs to ask a host of a cluster that has not the tenant, beside asking the one that has it. Two
 * hosts and a PostgreSQL; both ways take turns, so that a slow moment of the machine falls on both alike.
 */
import { join } from 'node:path'
import { postgresBinaries, startPostgres } from '../../test/support/start-postgres.ts'
import type { Connection } from './host/connection.ts'
import { withFolder } from './host/folder.ts'
import { startHostProcess, type HostProcess } from './host/host-process.ts'

/** `post`: a message of a few bytes, which is stored. `get`: the smallest question that there is. */
export type HandingSubject = 'post' | 'get'

/** CPU time of all threads a request, us */
export interface HandingSample {
  /** of the owner, asked itself */
  readonly asked: number
  /** of the owner, asked by way of the other host */
  readonly owner: number
  /** of the host that hands on */
  readonly other: number
}

const CONNECTIONS = 32
/** requests of one turn, and turns */
const TURN = 2_000
const TURNS = 8
const WARM = 6
const SENSOR = { label: 'seen', name: 'invokeCount', resource: '$' }

export async function handingSample(subject: HandingSubject): Promise<HandingSample> {
  const binaries = postgresBinaries()
  if (binaries === undefined) throw new Error('no PostgreSQL 15 or later is installed')
  return withFolder(async (folder) => {
    const server = await startPostgres(binaries)
    const hosts: HostProcess[] = []
    try {
      const options = ['--store', server.url, '--cluster', '--blobs', join(folder, 'objects')]
      for (const name of ['one', 'two']) hosts.push(await startHostProcess(join(folder, name), options))
      const other = await notOwner(hosts)
      const owner = hosts.find((host) => host !== other) ?? other
      const [connection] = await owner.connect(1)
      const task = { task: { name: 'count', type: 'reactive', resource: 'boiler-0' }, sensors: [SENSOR] }
      await connection?.expect(201, 'POST', '/api/tasks', JSON.stringify(task))
      return await turns(subject, owner, other)
    } finally {
      await Promise.all(hosts.map((host) => host.stop()))
      await server.stop()
    }
  })
}

async function turns(subject: HandingSubject, owner: HostProcess, other: HostProcess): Promise<HandingSample> {
  const direct = await owner.connect(CONNECTIONS)
  const around = await other.connect(CONNECTIONS)
  const sums = { asked: 0, owner: 0, other: 0 }
  for (let turn = -WARM; turn < TURNS; turn += 1) {
    await Promise.all([cpuOf(owner), cpuOf(other)])
    await ask(subject, direct)
    const [asked] = await Promise.all([cpuOf(owner), cpuOf(other)])
    await ask(subject, around)
    const [behind, between] = await Promise.all([cpuOf(owner), cpuOf(other)])
    if (turn < 0) continue
    sums.asked += asked
    sums.owner += behind
    sums.other += between
  }
  const requests = TURN * TURNS
  return { asked: sums.asked / requests, owner: sums.owner / requests, other: sums.other / requests }
}

/** us since it was asked before */
async function cpuOf(host: HostProcess): Promise<number> {
  return (await host.figures()).cpu * 1_000
}

/** Slots move in the first second; then one of the hosts hands on what the other has. */
async function notOwner(hosts: readonly HostProcess[]): Promise<HostProcess> {
  for (;;) {
    for (const host of hosts) {
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

async function ask(subject: HandingSubject, connections: readonly Connection[]): Promise<void> {
  let left = TURN
  await Promise.all(
    connections.map(async (connection, n) => {
      while (left > 0) {
        left -= 1
        if (subject === 'get') await connection.expect(200, 'GET', '/')
        else await connection.expect(200, 'POST', `/resources/boiler-${n}/events`, `{"temperature":${left % 100}}`)
      }
    }),
  )
}
