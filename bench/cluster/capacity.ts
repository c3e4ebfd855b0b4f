/** Simulated capacity of clusters of up to eight hosts, and their bottlenecks. */
import { digits, percent, rate } from '../figures.ts'
import type { Row, Table } from '../measurement.ts'
import { type ClusterCosts, simulateCluster, type SimulatedCluster, type Throughput } from './simulation.ts'

const HOSTS = [1, 2, 3, 4, 5, 6, 7, 8]
const DATABASE_CORES = [2, 4, 8, 16]
/** of the database in the table by number of hosts */
const CORES = 8
/** concurrent messages per host */
const WINDOW = 128
const NETWORK_MS = 0.1
const SEED = 1

export function capacityTables(costs: ClusterCosts, flushMs: number): readonly Table[] {
  const ask = (hosts: number, knowsOwner: boolean, cores: number): Throughput => {
    const machines: SimulatedCluster['machines'] = { kind: 'apart', cores }
    return simulateCluster({
      hosts,
      knowsOwner,
      window: WINDOW,
      costs,
      machines,
      networkMs: NETWORK_MS,
      flushMs,
      seed: SEED,
    })
  }
  return [costTable(costs), hostsTable(ask, flushMs), databaseTable(ask)]
}

type Ask = (hosts: number, knowsOwner: boolean, cores: number) => Throughput

function costTable({ host, server, handing, handed, sender, upkeep }: ClusterCosts): Table {
  return {
    title: 'Costs, fitted to all loads above; us of CPU',
    rows: [
      ['', 'per message', 'per transaction', 'per second and host'],
      ['host', digits(host.message), digits(host.transaction), digits(upkeep.host)],
      ['PostgreSQL', digits(server.message), digits(server.transaction), digits(upkeep.server)],
      ['forwarding host, per forwarded message', digits(handing), '', ''],
      ['owner, extra per forwarded message', digits(handed), '', ''],
      ['sender', digits(sender), '', ''],
    ],
  }
}

function hostsTable(ask: Ask, flushMs: number): Table {
  const one = ask(1, true, CORES).perSecond
  const cells = (found: Throughput): Row => [
    rate(found.perSecond),
    times(found.perSecond / one),
    busiest(found),
    digits(found.busy.database * CORES),
  ]
  const columns = ['of one host', 'busiest', 'busy cores of the database']
  return {
    title:
      `Simulated: hosts with a core each, a database with ${CORES} and a disk that flushes in ${digits(flushMs)} ms, ` +
      `${WINDOW} messages in flight per host, ${NETWORK_MS} ms between machines`,
    rows: [
      ['hosts', 'sender knows the owner, a second', ...columns, 'any host takes', ...columns],
      ...HOSTS.map((hosts) => [String(hosts), ...cells(ask(hosts, true, CORES)), ...cells(ask(hosts, false, CORES))]),
    ],
  }
}

function databaseTable(ask: Ask): Table {
  const row = (cores: number): Row => {
    const cells = [true, false].flatMap((knowsOwner) => {
      const all = HOSTS.map((hosts) => ask(hosts, knowsOwner, cores))
      const first = all.findIndex(({ busy }) => Math.max(busy.database, busy.disk) > busy.hosts)
      const times8 = (all.at(-1)?.perSecond ?? 0) / ask(1, true, cores).perSecond
      return [times(times8), first < 0 ? 'none' : String(HOSTS[first])]
    })
    return [String(cores), ...cells]
  }
  return {
    title:
      'Simulated: eight hosts compared with one, and the number of hosts from which the database or its disk is the bottleneck',
    rows: [
      ['cores of the database', 'sender knows the owner', 'database from', 'any host takes', 'database from'],
      ...DATABASE_CORES.map(row),
    ],
  }
}

const times = (ratio: number): string => `x ${ratio.toFixed(2)}`

function busiest({ busy }: Throughput): string {
  const parts = Object.entries(busy).toSorted(([, a], [, b]) => b - a)
  const [name, share] = parts[0] ?? ['', 0]
  return `${name} ${percent(share, 1)}`
}
