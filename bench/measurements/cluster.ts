/** What a message costs hosts of a cluster, beside one that is alone, which takes turns with them. */
import { digits, median, percent, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { ClusterSample, MessageCost } from '../samples/cluster.ts'

export const cluster = measurement<'cluster'>({
  name: 'cluster',
  title:
    'Clusters: messages over HTTP to a PostgreSQL on the same machine, 32 connections; us of CPU a message, beside a host that is alone and takes turns',
  lines: () => [{ name: 'cluster', title: 'one host with --cluster', request: { kind: 'cluster' }, maxRounds: 5 }],
  cost: ({ member }) => member.hosts,
  costUnit: 'us CPU',
  head: ['hosts', 'hosts', 'alone', 'share', 'PostgreSQL', 'alone', 'share', 'messages a second'],
  cells({ samples }) {
    const of = (who: keyof ClusterSample, what: keyof MessageCost): number =>
      median(samples.map((sample) => sample[who][what]))
    const share = (what: keyof MessageCost): string =>
      percent(median(samples.map(({ member, alone }) => member[what] / alone[what])), 1)
    return [
      digits(of('member', 'hosts')),
      digits(of('alone', 'hosts')),
      share('hosts'),
      digits(of('member', 'server')),
      digits(of('alone', 'server')),
      share('server'),
      rate(of('member', 'perSecond')),
    ]
  },
})
