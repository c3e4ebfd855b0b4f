/** Samples on SQLite as a broker hands them over, and beside SQL by hand on the same file. */
import { digits, median, megabytes, percent, rate } from '../figures.ts'
import { measurement, type LinePlan } from '../measurement.ts'
import type { SeriesSubject } from '../samples/series.ts'

const SUBJECTS: readonly { subject: SeriesSubject; title: string; inFlight: number; maxRounds: number }[] = [
  { subject: 'message', title: 'messages of 1 to 5 samples', inFlight: 1, maxRounds: 3 },
  { subject: 'message', title: 'messages of 1 to 5 samples', inFlight: 64, maxRounds: 3 },
  { subject: 'message', title: 'messages of 1 to 5 samples', inFlight: 1_000, maxRounds: 3 },
  { subject: 'array', title: 'arrays of 1,000 points', inFlight: 4, maxRounds: 3 },
  { subject: 'hourly', title: 'hourly mean over 1 M points (by hand: SQL on the file)', inFlight: 1, maxRounds: 3 },
  { subject: 'long', title: '10 M messages of one sample, in batches of 1,000', inFlight: 4, maxRounds: 1 },
]

export const series = measurement<'series'>({
  name: 'series',
  title: 'Samples on SQLite, by the clock: safe from kill -9 before they are answered',
  lines: () =>
    SUBJECTS.map(({ subject, title, inFlight, maxRounds }): LinePlan<'series'> => ({
      name: `${subject}-${inFlight}`,
      title: inFlight === 1 ? title : `${title}, ${digits(inFlight)} in flight`,
      request: { kind: 'series', subject, inFlight },
      maxRounds,
    })),
  cost: ({ perSecond }) => 1e6 / perSecond,
  costUnit: 'us each',
  head: ['samples', 'points/s', 'ms p50', 'ms p99', 'ms by hand', 'of by hand', 'RSS half way', 'RSS at the end'],
  cells({ samples }) {
    const of = (key: keyof (typeof samples)[number]): number => median(samples.map((sample) => sample[key] ?? NaN))
    const hand = of('handMs')
    const isNone = Number.isNaN(hand)
    return [
      rate(of('perSecond')),
      digits(of('p50')),
      digits(of('p99')),
      isNone ? '-' : digits(hand),
      percent(of('p50'), isNone ? undefined : hand),
      megabytes(of('rssHalf')),
      megabytes(of('rssEnd')),
    ]
  },
})
