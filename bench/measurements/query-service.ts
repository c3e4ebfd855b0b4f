/** The query service beside SQLite, DuckDB, its own reader, and posts that come meanwhile. */
import { digits, median } from '../figures.ts'
import { measurement, type LinePlan } from '../measurement.ts'
import type { QueryServiceSubject } from '../samples/query-service.ts'

const SUBJECTS: readonly { subject: QueryServiceSubject; title: string; needsPeers?: true }[] = [
  { subject: 'means', title: '1 M points of ten series to hourly means; SQLite; DuckDB', needsPeers: true },
  { subject: 'csv', title: '10 M points as CSV; the reader alone' },
  { subject: 'ndjson', title: '10 M points as NDJSON; the reader alone' },
  { subject: 'arrow', title: '10 M points as Arrow; the reader alone' },
  { subject: 'http', title: 'a stored query of a day of minutes over HTTP; p99 of posts alone; among 50 callers' },
  { subject: 'bare', title: 'a post to a bare fastify route beside two busy threads' },
]

export const queryService = measurement<'queryService'>({
  name: 'query-service',
  title: 'The query service on SQLite, by the clock',
  lines: () =>
    SUBJECTS.map(({ subject, title, needsPeers }): LinePlan<'queryService'> => ({
      name: subject,
      title,
      request: { kind: 'queryService', subject },
      maxRounds: 2,
      ...(needsPeers && { needsPeers }),
    })),
  cost: ({ own }) => own,
  costUnit: 'ms',
  head: [
    'query',
    'ms',
    'ms p99',
    'ms of the first',
    'ms of the second',
    'stall max',
    'MiB grown',
    'CPU p99',
    'CPU max',
  ],
  cells({ samples }) {
    const of = (key: keyof (typeof samples)[number]): string => {
      const value = median(samples.map((sample) => sample[key] ?? Number.NaN))
      return Number.isNaN(value) ? '' : digits(value)
    }
    return [
      of('own'),
      of('ownP99'),
      of('peer'),
      of('otherPeer'),
      of('stallMax'),
      of('grown'),
      of('held'),
      of('heldMost'),
    ]
  },
})
