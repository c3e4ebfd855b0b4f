/** Clusters of hosts on PostgreSQL: costs of messages by number of hosts, and the duration of takeovers. */
import { availableParallelism } from 'node:os'
import { capacityTables } from '../cluster/capacity.ts'
import { type ClusterCosts, costsOf, simulateCluster, sumOf } from '../cluster/simulation.ts'
import { digits, median, percent, rate } from '../figures.ts'
import { measurement, middle, most, overall, type Row, type Table } from '../measurement.ts'
import type { SpreadLoad, SpreadSample } from '../samples/spread.ts'

export const takeover = measurement('takeover', {
  name: 'takeover',
  title: 'Takeover: 3 hosts and a PostgreSQL on one machine, 30 tenants of 100 tasks; one host is killed',
  lines: [
    { name: 'killed', title: 'killed (kill -9)', request: { subject: 'killed' } },
    { name: 'halted', title: 'standing still (SIGSTOP)', request: { subject: 'halted' } },
  ],
  maxRounds: 3,
  cost: ({ all }) => all,
  costUnit: 'ms',
  what: 'a host is',
  columns: [
    ['tasks it had', middle(({ tasks }) => tasks)],
    ['ms until tasks of half of its tenants take messages', middle(({ half }) => half)],
    ['of all', middle(({ all }) => all)],
    ['worst', overall(most, ({ all }) => all)],
  ],
})

const HOSTS: readonly number[] = [1, 2, 4]
const WAYS: Readonly<Record<SpreadLoad['way'], string>> = {
  owner: 'to the owner',
  blind: 'to any host',
  handed: 'all handed on',
}

const hostsCost = ({ hosts, messages }: SpreadLoad): number => sumOf(hosts) / messages
const serverCost = ({ server, messages }: SpreadLoad): number => server / messages
const bothCost = (sample: SpreadSample): number => hostsCost(fullLoad(sample)) + serverCost(fullLoad(sample))
const bothCosts = (samples: readonly SpreadSample[]): number => median(samples.map(bothCost))
const perSecond = ({ messages, seconds }: SpreadLoad): number => messages / seconds
const transactions = (load: SpreadLoad): number => load.transactions / load.messages

export const spread = measurement('spread', {
  name: 'spread',
  title:
    'Clusters of 1, 2 and 4 hosts and a PostgreSQL on one machine: 128 messages in flight over HTTP per host, sent to the owner',
  lines: HOSTS.map((hosts) => ({
    name: String(hosts),
    title: String(hosts),
    request: { hosts },
  })),
  maxRounds: 3,
  cost: bothCost,
  costUnit: 'us CPU',
  what: 'hosts',
  columns: [
    ['us of CPU of hosts per message', middle((sample) => hostsCost(fullLoad(sample)))],
    ['us of CPU of PostgreSQL', middle((sample) => serverCost(fullLoad(sample)))],
    ['both, of one host', ({ samples }, all) => percent(bothCosts(samples), bothCosts(all[0]?.samples ?? []))],
    ['messages a second', middle((sample) => perSecond(fullLoad(sample)), rate)],
  ],
  conclusions(lines) {
    const samples = lines.flatMap((line) => line.samples)
    const flushMs = median(samples.map((sample) => sample.flushMs))
    const costs = costsOf(samples)
    return [loadTable(samples, costs, flushMs), ...capacityTables(costs, flushMs)]
  },
})

function fullLoad({ loads }: SpreadSample): SpreadLoad {
  const [first] = loads
  if (first === undefined) throw new Error('the sample lacks loads')
  return first
}

function loadTable(samples: readonly SpreadSample[], costs: ClusterCosts, flushMs: number): Table {
  const cores = availableParallelism()
  const rows = HOSTS.flatMap((hosts) => {
    const same = samples.filter((sample) => sample.hosts === hosts)
    return (same[0]?.loads ?? []).map(({ way, window }, index): Row => {
      const loads = same.flatMap((sample) => sample.loads[index] ?? [])
      const of = (figure: (load: SpreadLoad) => number): number => median(loads.map(figure))
      const simulated =
        way === 'handed'
          ? undefined
          : simulateCluster({
              hosts,
              knowsOwner: way === 'owner',
              window,
              costs,
              machines: { kind: 'shared', cores },
              networkMs: 0,
              flushMs,
              seed: 1,
            })
      return [
        `${hosts}, ${WAYS[way]}, ${window}`,
        digits(of(hostsCost)),
        way === 'handed' ? digits(of((load) => (load.hosts[0] ?? 0) / load.messages)) : '-',
        digits(of(serverCost)),
        digits(of(transactions)),
        simulated === undefined ? '-' : digits(simulated.transactionsPerMessage),
        rate(of(perSecond)),
        simulated === undefined ? '-' : rate(simulated.perSecond),
      ]
    })
  })
  const head = [
    'hosts, routing, messages in flight for each',
    'us of hosts',
    'of the forwarding host',
    'PostgreSQL',
    'transactions a message',
    'simulated',
    'messages a second',
    'simulated',
  ]
  return {
    title: `All loads, next to a simulation of each on the ${cores} cores of this machine`,
    rows: [head, ...rows],
  }
}
