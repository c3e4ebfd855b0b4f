/**
 * One sample: what a message costs a host of a cluster, and beside it a host that is alone. Each has a PostgreSQL of its
 * own; they take turns, so that a slow moment of the machine falls on both alike.
 */
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { postgresBinaries, startPostgres, type PostgresServer } from '../../test/support/start-postgres.ts'
import type { Connection } from './host/connection.ts'
import { withFolder } from './host/folder.ts'
import { startHostProcess, type HostProcess } from './host/host-process.ts'
import { cpuOfServer } from './server-cpu.ts'

/** CPU time a message, us */
export interface MessageCost {
  /** of the host */
  readonly hosts: number
  /** of the PostgreSQL */
  readonly server: number
  readonly perSecond: number
}

export interface ClusterSample {
  readonly member: MessageCost
  readonly alone: MessageCost
}

const CONNECTIONS = 32
/** messages of one turn, and turns */
const TURN = 2_000
const TURNS = 6
const WARM = 4
const SENSOR = { label: 'seen', name: 'invokeCount', resource: '$' }

export async function clusterSample(): Promise<ClusterSample> {
  const binaries = postgresBinaries()
  if (binaries === undefined) throw new Error('no PostgreSQL 15 or later is installed')
  return withFolder(async (folder) => {
    const subjects: Subject[] = []
    try {
      for (const one of ['alone', 'cluster'] as const) {
        const made = new Subject(await startPostgres(binaries), join(folder, one))
        subjects.push(made)
        await made.start(one)
      }
      for (let turn = -WARM; turn < TURNS; turn += 1) {
        for (const one of subjects) await one.turn(turn >= 0)
      }
      const [alone, member] = subjects.map((one) => one.cost())
      if (alone === undefined || member === undefined) throw new Error('there are two subjects')
      return { alone, member }
    } finally {
      await Promise.all(subjects.map((one) => one.stop()))
    }
  })
}

class Subject {
  readonly #server: PostgresServer
  readonly #folder: string
  readonly #hosts: HostProcess[] = []
  #connections: readonly Connection[] = []
  #sums = { hosts: 0, server: 0, ms: 0 }

  constructor(server: PostgresServer, folder: string) {
    this.#server = server
    this.#folder = folder
  }

  async start(subject: 'alone' | 'cluster'): Promise<void> {
    const first = await this.#host('one', subject)
    const [connection] = await first.connect(1)
    const task = { task: { name: 'count', type: 'reactive', resource: 'boiler-0' }, sensors: [SENSOR] }
    await connection?.expect(201, 'POST', '/api/tasks', JSON.stringify(task))
    this.#connections = await first.connect(CONNECTIONS)
  }

  async turn(counts: boolean): Promise<void> {
    await this.#hostsCpu()
    const server = cpuOfServer(this.#server)
    const began = performance.now()
    await post(this.#connections, TURN)
    const ms = performance.now() - began
    const hosts = await this.#hostsCpu()
    if (!counts) return
    this.#sums.hosts += hosts
    this.#sums.server += cpuOfServer(this.#server) - server
    this.#sums.ms += ms
  }

  cost(): MessageCost {
    const { hosts, server, ms } = this.#sums
    const messages = TURN * TURNS
    return { hosts: hosts / messages, server: server / messages, perSecond: (messages * 1_000) / ms }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.stop()))
    await this.#server.stop()
  }

  async #host(name: string, subject: 'alone' | 'cluster'): Promise<HostProcess> {
    const member = subject === 'alone' ? [] : ['--cluster', '--blobs', join(this.#folder, 'objects')]
    const host = await startHostProcess(join(this.#folder, name), ['--store', this.#server.url, ...member])
    this.#hosts.push(host)
    return host
  }

  /** us since it was asked before */
  async #hostsCpu(): Promise<number> {
    let ms = 0
    for (const host of this.#hosts) ms += (await host.figures()).cpu
    return ms * 1_000
  }
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
