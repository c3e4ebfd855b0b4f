/** What a message costs a host of a cluster, beside one that is alone on the same PostgreSQL. */
import { digits, median, percent, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { ClusterSample, ClusterSubject } from '../samples/cluster.ts'

const SUBJECTS: readonly { readonly subject: ClusterSubject; readonly title: string }[] = [
  { subject: 'alone', title: 'a host that is alone' },
  { subject: 'cluster', title: 'one host with --cluster' },
  { subject: 'forwarded', title: 'two of them, asked is the one that hands on' },
]

export const cluster = measurement<'cluster'>({
  name: 'cluster',
  title: 'Clusters: messages over HTTP to a PostgreSQL on the same machine, 32 connections; CPU time of all hosts',
  lines: () =>
    SUBJECTS.map(({ subject, title }) => ({
      name: subject,
      title,
      request: { kind: 'cluster', subject },
      maxRounds: 5,
    })),
  cost: ({ cpu }) => cpu,
  costUnit: 'us CPU',
  head: ['hosts', 'us of CPU a message', 'of one that is alone', 'messages a second'],
  cells({ samples }, all) {
    const of = (key: keyof ClusterSample): number => median(samples.map((sample) => sample[key]))
    const alone = all.find(({ name }) => name === 'alone')?.samples.map(({ cpu }) => cpu) ?? []
    return [digits(of('cpu')), alone.length > 0 ? percent(of('cpu'), median(alone)) : '', rate(of('perSecond'))]
  },
})
