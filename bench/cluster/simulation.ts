/**
 * Cluster in virtual time: hosts, one database, and clients that send the next message once the previous one is
 * answered. From the costs of messages it computes throughput and bottlenecks.
 *
 * A host does one thing at a time. It has two lanes, for states and for series (src/storage/postgres/lane.ts), each of
 * which commits one transaction at a time in two round trips to the database; messages that arrive meanwhile join the
 * next one. A message is answered when stored; the input of its task and its samples are stored afterwards. Not
 * modelled: locks and maintenance of growing tables, uneven tenants, saturated networks.
 */
import { VirtualClock } from '../../src/core/simulate/virtual-clock.ts'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import type { SpreadLoad, SpreadSample } from '../samples/spread.ts'
import { Cores, Disk, Thread } from './processors.ts'

export interface SimulatedCluster {
  readonly hosts: number
  /** false: messages go to any host */
  readonly knowsOwner: boolean
  readonly window: number
  readonly costs: ClusterCosts
  /** `apart`: a core per host, `cores` for the database, and free clients; `shared`: all on the same cores */
  readonly machines: { readonly kind: 'apart' | 'shared'; readonly cores: number }
  /** ms one way */
  readonly networkMs: number
  /** ms of a flush of the database disk */
  readonly flushMs: number
  readonly seed: number
}

export interface Throughput {
  /** answered messages per second */
  readonly perSecond: number
  readonly transactionsPerMessage: number
  readonly busy: { readonly hosts: number; readonly database: number; readonly disk: number }
}

const WARM_MS = 300
const MEASURED_MS = 1_000
const UPKEEP_MS = 50

export function simulateCluster(cluster: SimulatedCluster): Throughput {
  const run = new ClusterRun(cluster)
  run.begin()
  const before = run.totals(WARM_MS)
  const after = run.totals(WARM_MS + MEASURED_MS)
  const messages = after.messages - before.messages
  const share = (key: 'hosts' | 'database' | 'disk', capacity: number): number =>
    (after[key] - before[key]) / (MEASURED_MS * 1_000 * capacity)
  return {
    perSecond: (messages * 1_000) / MEASURED_MS,
    transactionsPerMessage: (after.transactions - before.transactions) / messages,
    busy: {
      hosts: share('hosts', cluster.hosts),
      database: share('database', cluster.machines.cores),
      disk: share('disk', 1),
    },
  }
}

interface SimulatedLane {
  waiting: (() => void)[]
  commits: boolean
}

interface SimulatedHost {
  readonly thread: Thread
  readonly state: SimulatedLane
  readonly series: SimulatedLane
}

/** the message, the input of its task, and its samples */
const TIMES_STORED = 3

class ClusterRun {
  readonly #cluster: SimulatedCluster
  readonly #clock = new VirtualClock()
  readonly #hosts: readonly SimulatedHost[]
  readonly #server: Cores
  readonly #sender: Cores
  readonly #disk: Disk
  readonly #costs: ClusterCosts
  #seed: number
  #messages = 0
  #transactions = 0
  #database = 0

  constructor(cluster: SimulatedCluster) {
    const { hosts, machines, flushMs, costs, seed } = cluster
    this.#cluster = cluster
    this.#costs = costs
    this.#seed = seed
    this.#server = new Cores(this.#clock, machines.cores)
    const isShared = machines.kind === 'shared'
    this.#sender = isShared ? this.#server : new Cores(this.#clock, Number.POSITIVE_INFINITY)
    this.#disk = new Disk(this.#clock, flushMs)
    this.#hosts = Array.from({ length: hosts }, () => {
      const cores = isShared ? this.#server : new Cores(this.#clock, 1)
      const lane = (): SimulatedLane => ({ waiting: [], commits: false })
      return { thread: new Thread(cores), state: lane(), series: lane() }
    })
  }

  begin(): void {
    for (const host of this.#hosts) {
      this.#upkeep(host)
      for (let n = 0; n < this.#cluster.window; n += 1) this.#send(host)
    }
  }

  totals(at: number) {
    this.#clock.advanceTo(at)
    const hosts = this.#hosts.reduce((sum, { thread }) => sum + thread.spent, 0)
    const [messages, transactions, database] = [this.#messages, this.#transactions, this.#database]
    return { messages, transactions, hosts, database, disk: this.#disk.spent }
  }

  /** Sends endlessly. `target`: target of a client that knows the owner */
  #send(target: SimulatedHost): void {
    const { knowsOwner, machines } = this.#cluster
    const { sender, handing, handed } = this.#costs
    const [taker, owner] = knowsOwner ? [target, target] : [this.#anyHost(), this.#anyHost()]
    const again = (): void => {
      this.#messages += 1
      this.#send(target)
    }
    const answered = (): void => this.#travel(again)
    this.#sender.run(machines.kind === 'shared' ? this.#drawn(sender) : 0, () => {
      this.#travel(() => {
        if (taker === owner) return this.#take(owner, 0, answered)
        const half = this.#drawn(handing) / 2
        const handBack = (): void => this.#travel(() => taker.thread.run(half, answered))
        taker.thread.run(half, () => this.#travel(() => this.#take(owner, handed, handBack)))
      })
    })
  }

  /** `more`: additional us compared with a message from a client */
  #take(host: SimulatedHost, more: number, answer: () => void): void {
    const half = this.#drawn(Math.max(0, this.#costs.host.message + more)) / 2
    host.thread.run(half, () => {
      this.#store(host, host.state, () => {
        host.thread.run(half, answer)
        for (const lane of [host.state, host.series]) this.#store(host, lane, () => undefined)
      })
    })
  }

  #store({ thread }: SimulatedHost, lane: SimulatedLane, done: () => void): void {
    lane.waiting.push(done)
    if (lane.commits) return
    lane.commits = true
    // includes messages of the same turn of the loop
    thread.run(0, () => this.#commit(thread, lane))
  }

  #commit(thread: Thread, lane: SimulatedLane): void {
    const batch = lane.waiting
    lane.waiting = []
    this.#transactions += 1
    const { host, server } = this.#costs
    const journey = (this.#drawn(server.transaction) + (batch.length * server.message) / TIMES_STORED) / 2
    const third = this.#drawn(host.transaction) / 3
    const ask = (answered: () => void): void =>
      thread.run(third, () => this.#travel(() => this.#atDatabase(journey, answered)))
    const end = (): void => {
      for (const done of batch) done()
      lane.commits = lane.waiting.length > 0
      if (lane.commits) this.#commit(thread, lane)
    }
    const write = (): void => ask(() => this.#disk.flush(() => this.#travel(() => thread.run(third, end))))
    ask(() => this.#travel(write))
  }

  #atDatabase(us: number, done: () => void): void {
    this.#database += us
    this.#server.run(us, done)
  }

  #upkeep(host: SimulatedHost): void {
    const { upkeep } = this.#costs
    const part = UPKEEP_MS / 1_000
    host.thread.run(upkeep.host * part, () => undefined)
    this.#atDatabase(upkeep.server * part, () => undefined)
    this.#clock.schedule(() => this.#upkeep(host), UPKEEP_MS)
  }

  #travel(done: () => void): void {
    const { networkMs } = this.#cluster
    if (networkMs === 0) done()
    else this.#clock.schedule(done, networkMs)
  }

  #anyHost(): SimulatedHost {
    const host = this.#hosts[Math.floor(this.#random() * this.#hosts.length)]
    if (host === undefined) throw new Error('the cluster is empty; use at least one host')
    return host
  }

  #drawn(us: number): number {
    return -Math.log(1 - this.#random()) * us
  }

  #random(): number {
    this.#seed = nextSeed(this.#seed)
    return randomOf(this.#seed)
  }
}

/** Cost that falls as more messages share a transaction, us of CPU. */
interface SharedCost {
  readonly message: number
  readonly transaction: number
}

/** CPU times in us */
export interface ClusterCosts {
  readonly host: SharedCost
  readonly handing: number
  /** additional cost of the owner for a forwarded message; below 0 when cheaper */
  readonly handed: number
  readonly server: SharedCost
  readonly sender: number
  /** us per second and host, with or without messages */
  readonly upkeep: { readonly host: number; readonly server: number }
}

interface Point {
  /** transactions per message */
  readonly share: number
  readonly cost: number
  readonly messages: number
}

/** Throws an Error without samples of both direct and forwarded messages. */
export function costsOf(samples: readonly SpreadSample[]): ClusterCosts {
  const upkeep = {
    host: mean(samples.map(({ idle }) => idle.host)),
    server: mean(samples.map(({ idle, hosts }) => idle.server / hosts)),
  }
  const loads = samples.flatMap((sample) => sample.loads)
  const direct = loads.filter(({ way }) => way === 'owner')
  const host = lineThrough(direct.map((load) => pointOf(load, sumOf(load.hosts), load.hosts.length * upkeep.host)))
  const server = lineThrough(direct.map((load) => pointOf(load, load.server, load.hosts.length * upkeep.server)))
  const handed = loads.filter(({ way }) => way === 'handed')
  const messages = sumOf(handed.map((load) => load.messages))
  if (messages === 0) throw new Error('the loads lack forwarded messages')
  const first = handed.map(({ hosts, seconds }) => (hosts[0] ?? 0) - upkeep.host * seconds)
  const more = handed.map((load) => {
    const { hosts, seconds, messages: taken, transactions } = load
    return (hosts.at(-1) ?? 0) - upkeep.host * seconds - host.message * taken - host.transaction * transactions
  })
  return {
    host,
    server,
    handing: sumOf(first) / messages,
    handed: sumOf(more) / messages,
    sender: sumOf(direct.map(({ sender }) => sender)) / sumOf(direct.map((load) => load.messages)),
    upkeep,
  }
}

/** `upkeep`: us per second independent of messages */
function pointOf({ messages, seconds, transactions }: SpreadLoad, us: number, upkeep: number): Point {
  return { messages, share: transactions / messages, cost: (us - upkeep * seconds) / messages }
}

/**
 * Least-squares line weighted by messages: `cost = message + transaction * share`, neither below 0. Throws an Error
 * below two shares.
 */
export function lineThrough(points: readonly Point[]): SharedCost {
  const weight = sumOf(points.map(({ messages }) => messages))
  const meanOf = (key: 'share' | 'cost'): number => sumOf(points.map((point) => point[key] * point.messages)) / weight
  const [share, cost] = [meanOf('share'), meanOf('cost')]
  const square = sumOf(points.map((point) => point.messages * (point.share - share) ** 2))
  if (!(square > 0)) throw new Error('costs were measured at one share of transactions only')
  const product = sumOf(points.map((point) => point.messages * (point.share - share) * (point.cost - cost)))
  const slope = product / square
  const start = cost - slope * share
  if (slope < 0) return { message: cost, transaction: 0 }
  return start < 0 ? { message: 0, transaction: cost / share } : { message: start, transaction: slope }
}

export const sumOf = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
const mean = (values: readonly number[]): number => sumOf(values) / values.length
