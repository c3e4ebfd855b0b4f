/** Time series as the broker answers them, beside the same as SQL by hand on the same file. */
import { digits, median, percent } from '../figures.ts'
import { measurement, type LinePlan } from '../measurement.ts'
import type { QuerySubject } from '../samples/queries.ts'

const SUBJECTS: readonly { subject: QuerySubject; title: string }[] = [
  { subject: 'mean', title: 'hourly mean over 1 M points' },
  { subject: 'figures', title: 'hourly mean, min, max, sum, count and std' },
  { subject: 'median', title: 'hourly median (by hand: window functions)' },
  { subject: 'latest', title: 'the newest 2,000 of 1 M points' },
]

export const queries = measurement<'queries'>({
  name: 'queries',
  title: 'Series of the broker on SQLite, by the clock',
  lines: () =>
    SUBJECTS.map(({ subject, title }): LinePlan<'queries'> => ({
      name: subject,
      title,
      request: { kind: 'queries', subject },
      maxRounds: 3,
    })),
  cost: ({ p50 }) => p50,
  costUnit: 'ms',
  head: ['query', 'ms p50', 'ms p99', 'ms by hand', 'of by hand', 'stall max'],
  cells({ samples }) {
    const of = (key: keyof (typeof samples)[number]): number => median(samples.map((sample) => sample[key]))
    return [
      digits(of('p50')),
      digits(of('p99')),
      digits(of('handMs')),
      percent(of('p50'), of('handMs')),
      `${digits(of('stallMax'))} ms`,
    ]
  },
})
