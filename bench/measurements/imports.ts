/** A file of points on its way into series, beside the same points handed to the store. */
import { median, megabytes, percent, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { ImportsSubject } from '../samples/imports.ts'

const SUBJECTS: readonly { readonly subject: ImportsSubject; readonly title: string }[] = [
  { subject: 'store', title: 'the points as they are, in the store' },
  { subject: 'wide', title: 'a CSV with a column a metric, imported by a host' },
  { subject: 'long', title: 'a CSV with a value a row, imported by a host' },
]

export const imports = measurement<'imports'>({
  name: 'imports',
  title: '5 M points into series on SQLite, by the clock',
  lines: () =>
    SUBJECTS.map(({ subject, title }) => ({
      name: subject,
      title,
      request: { kind: 'imports', subject },
      maxRounds: 3,
    })),
  cost: ({ perSecond }) => 1e6 / perSecond,
  costUnit: 'us each',
  head: ['points', 'points/s', 'of the store', 'CPU us each', 'RSS half way', 'RSS at the end'],
  cells({ samples }, all) {
    const of = (key: keyof (typeof samples)[number]): number => median(samples.map((sample) => sample[key]))
    const store = median(all[0]?.samples.map(({ perSecond }) => perSecond) ?? [])
    return [
      rate(of('perSecond')),
      percent(of('perSecond'), store),
      of('cpu').toFixed(2),
      megabytes(of('rssHalf')),
      megabytes(of('rssEnd')),
    ]
  },
})
