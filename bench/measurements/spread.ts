/** What a message costs when hosts and load become more in proportion. */
import { digits, median, percent, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { SpreadSample } from '../samples/spread.ts'

const HOSTS: readonly number[] = [1, 2, 4]

export const spread = measurement<'spread'>({
  name: 'spread',
  title:
    'Clusters of 1, 2 and 4 hosts on one machine: 250 messages a second over HTTP for each, sent to who has the tenant',
  lines: () =>
    HOSTS.map((hosts) => ({
      name: String(hosts),
      title: String(hosts),
      request: { kind: 'spread', hosts },
      maxRounds: 3,
    })),
  cost: ({ hosts, server }) => hosts + server,
  costUnit: 'us CPU',
  head: ['hosts', 'us of CPU of hosts a message', 'us of CPU of PostgreSQL', 'both, of one host', 'messages a second'],
  cells({ samples }, all) {
    const of = (key: keyof SpreadSample): number => median(samples.map((sample) => sample[key]))
    const one = all[0]?.samples.map(({ hosts, server }) => hosts + server) ?? []
    const both = of('hosts') + of('server')
    return [
      digits(of('hosts')),
      digits(of('server')),
      one.length > 0 ? percent(both, median(one)) : '',
      rate(of('perSecond')),
    ]
  },
})
