/**
 * Sample of the costs of messages for each host of a cluster and for PostgreSQL, under several loads and ways of
 * sending.
 */
import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { scheduler } from 'node:timers/promises'
import pg from 'pg'
import { ClusterProcesses, type MemberProcess } from '../../test/host/cluster/cluster-processes.ts'
import { postgresBinaries, type PostgresServer, startPostgres } from '../../test/support/start-postgres.ts'
import { median } from '../figures.ts'
import { Connection } from './host/connection.ts'

/**
 * `owner`: to the owner of the tenant; `blind`: to all hosts in turn; `handed`: to one host that owns none of the
 * tenants
 */
export type SendingWay = 'owner' | 'blind' | 'handed'

export interface SpreadLoad {
  readonly way: SendingWay
  /** concurrent messages per host */
  readonly window: number
  readonly messages: number
  readonly seconds: number
  readonly transactions: number
  /** in order of start; `handed`: the first forwards, the last owns the tenants */
  readonly hosts: readonly number[]
  readonly server: number
  readonly sender: number
}

export interface SpreadSample {
  readonly hosts: number
  readonly loads: readonly SpreadLoad[]
  /** us of CPU per second while idle: of a host, and of PostgreSQL for all hosts */
  readonly idle: { readonly host: number; readonly server: number }
  /** median ms to write a page to the disk */
  readonly flushMs: number
}

const TENANTS = 4
const CANDIDATES = 14
const RESOURCES = 16
/** largest first, as a warm-up of the hosts */
const WINDOWS = [128, 32, 4]
/**
 * concurrent messages between two hosts when each of eight has 128 of its own and forwards those of the others: equal
 * sharing of writes
 */
const HANDED_WINDOWS = [16]
/** before the first load of each kind, and before the others */
const COLD_MS = 4_000
const WARM_MS = 1_000
const LOAD_MS = 3_000
const IDLE_MS = 2_000

const RULE = {
  name: 'counted',
  sensors: [{ label: 'seen', name: 'invokeCount', resource: '$' }],
  taskDefaults: { type: 'reactive' as const },
}

/** Tenant with the index of its host. */
interface Placed {
  readonly authorization: string
  readonly owner: number
}

export async function spreadSample({ hosts: count }: { hosts: number }): Promise<SpreadSample> {
  const binaries = postgresBinaries()
  if (binaries === undefined) throw new Error('PostgreSQL 15 or later is not installed')
  const server = await startPostgres(binaries)
  const cluster = new ClusterProcesses(server.url)
  const client = new pg.Client({ connectionString: server.url })
  try {
    const names = Array.from({ length: CANDIDATES * count }, (_, n) => `tenant-${n}`)
    await cluster.addKeys(names)
    const hosts: MemberProcess[] = []
    while (hosts.length < count) hosts.push(await cluster.start())
    await cluster.settled(count)
    await client.connect()
    const tenants = await placed(cluster, hosts, names)
    const deployment = new Deployment(hosts, server, client)
    const { hosts: idle, server: idleServer, seconds } = await deployment.spent(() => scheduler.wait(IDLE_MS))
    const loads: SpreadLoad[] = []
    for (const way of waysOf(count)) {
      for (const window of windowsOf(way)) loads.push(await deployment.load(way, window, tenants))
    }
    const host = idle.reduce((sum, us) => sum + us, 0) / count / seconds
    return { hosts: count, loads, idle: { host, server: idleServer / seconds }, flushMs: flushMs() }
  } finally {
    await client.end()
    await cluster.end()
    await server.stop()
  }
}

function waysOf(hosts: number): readonly SendingWay[] {
  if (hosts === 1) return ['owner']
  return hosts === 2 ? ['owner', 'blind', 'handed'] : ['owner', 'blind']
}

function windowsOf(way: SendingWay): readonly number[] {
  return way === 'handed' ? HANDED_WINDOWS : WINDOWS
}

/** The same number of tenants per host, with a task for each of their resources. */
async function placed(
  cluster: ClusterProcesses,
  hosts: readonly MemberProcess[],
  names: readonly string[],
): Promise<readonly Placed[]> {
  const url = hosts[0]?.url ?? ''
  const found: Placed[] = []
  for (const name of names) {
    const headers = cluster.headersOf(name)
    const answer = await fetch(`${url}/`, { headers })
    await answer.text()
    const owner = hosts.findIndex((host) => host.url === (answer.headers.get('reflexarc-owner') ?? url))
    if (found.filter((one) => one.owner === owner).length === TENANTS) continue
    const { rules } = cluster.clientOf(url, name)
    await rules.templates.create(RULE)
    for (let n = 0; n < RESOURCES; n += 1) {
      await rules.tasks.create({ template: 'counted', name: `count-${n}`, resource: `boiler-${n}` })
    }
    found.push({ authorization: headers.authorization, owner })
  }
  if (found.length < TENANTS * hosts.length) throw new Error('too few tenants were assigned to one of the hosts')
  return found
}

interface Spent {
  readonly hosts: readonly number[]
  readonly server: number
  readonly sender: number
  readonly transactions: number
  readonly seconds: number
}

class Deployment {
  readonly #hosts: readonly MemberProcess[]
  readonly #server: PostgresServer
  readonly #client: pg.Client

  constructor(hosts: readonly MemberProcess[], server: PostgresServer, client: pg.Client) {
    this.#hosts = hosts
    this.#server = server
    this.#client = client
  }

  async load(way: SendingWay, window: number, tenants: readonly Placed[]): Promise<SpreadLoad> {
    const connections = await this.#connections(way, window, tenants)
    try {
      await send(connections, window === windowsOf(way)[0] ? COLD_MS : WARM_MS)
      let messages = 0
      const spent = await this.spent(async () => {
        messages = await send(connections, LOAD_MS)
      })
      return { way, window, messages, ...spent }
    } finally {
      for (const one of connections) one.close()
    }
  }

  async spent(work: () => Promise<unknown>): Promise<Spent> {
    const before = await this.#clocks()
    await work()
    const after = await this.#clocks()
    return {
      hosts: after.hosts.map((us, index) => us - (before.hosts[index] ?? 0)),
      server: after.server - before.server,
      sender: after.sender - before.sender,
      transactions: after.transactions - before.transactions,
      seconds: (after.now - before.now) / 1_000,
    }
  }

  async #clocks() {
    // each lane counts its transactions
    const { rows } = await this.#client.query<{ sum: string }>('select sum(batch) from reflexarc.lanes')
    const { user, system } = process.cpuUsage()
    return {
      hosts: this.#hosts.map(({ pid }) => cpuOf([pid])),
      server: cpuOfServer(this.#server),
      sender: user + system,
      transactions: Number(rows[0]?.sum ?? 0),
      now: performance.now(),
    }
  }

  #connections(way: SendingWay, window: number, tenants: readonly Placed[]): Promise<readonly Connection[]> {
    const last = this.#hosts.length - 1
    const sent = way === 'handed' ? tenants.filter(({ owner }) => owner === last) : tenants
    const open = Array.from({ length: window * (way === 'handed' ? 1 : this.#hosts.length) }, (_, n) => {
      const tenant = sent[n % sent.length]
      if (tenant === undefined) throw new Error('the list of tenants is empty')
      const target = { owner: tenant.owner, blind: Math.floor(n / sent.length) % this.#hosts.length, handed: 0 }[way]
      return Connection.open(Number(new URL(this.#hosts[target]?.url ?? '').port), tenant.authorization)
    })
    return Promise.all(open)
  }
}

async function send(connections: readonly Connection[], ms: number): Promise<number> {
  const end = performance.now() + ms
  let sent = 0
  await Promise.all(
    connections.map(async (connection, index) => {
      while (performance.now() < end) {
        sent += 1
        const resource = (index + sent) % RESOURCES
        await connection.expect(200, 'POST', `/resources/boiler-${resource}/events`, `{"temperature":${sent % 100}}`)
      }
    }),
  )
  return sent
}

function flushMs(): number {
  const folder = mkdtempSync(join(tmpdir(), 'flush-'))
  const file = openSync(join(folder, 'pages'), 'w')
  try {
    const page = Buffer.alloc(8_192, 1)
    const took = Array.from({ length: 200 }, () => {
      writeSync(file, page)
      const since = performance.now()
      fdatasyncSync(file)
      return performance.now() - since
    })
    return median(took)
  } finally {
    closeSync(file)
    rmSync(folder, { recursive: true })
  }
}

/** kernel ticks per second */
const TICKS = 100

/** us over all processes of a PostgreSQL, including ended ones. */
function cpuOfServer({ url }: Pick<PostgresServer, 'url'>): number {
  const folder = join(new URL(url).searchParams.get('host') ?? '', 'data')
  return cpuOf(readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isIn(pid, folder)))
}

/** us; 0 for an ended process. */
function cpuOf(pids: readonly (number | string | undefined)[]): number {
  return pids.reduce<number>((sum, pid) => sum + cpuOfProcess(pid), 0)
}

function isIn(pid: string, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === folder
  } catch {
    return false
  }
}

function cpuOfProcess(pid: number | string | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return [11, 12, 13, 14].reduce((sum, column) => sum + Number(fields[column]), 0) * (1_000_000 / TICKS)
  } catch {
    return 0
  }
}
