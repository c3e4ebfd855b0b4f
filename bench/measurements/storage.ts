/** Storage on SQLite beside SQLite by hand: durable writes, reads by key, pages of 100,000 documents, logs and samples. */
import { digits, median, percent, rate } from '../figures.ts'
import { measurement, type LinePlan } from '../measurement.ts'
import type { StorageSubject } from '../subjects/storage/subject.ts'

const SUBJECTS: readonly { subject: StorageSubject; title: string; inFlight: readonly number[] }[] = [
  { subject: 'create', title: 'new documents of 1 KB, five fields', inFlight: [64] },
  { subject: 'update', title: 'documents written again, fields as they were', inFlight: [1, 64, 256] },
  { subject: 'get', title: 'documents by id', inFlight: [1] },
  { subject: 'page', title: 'page of 100 of 100,000 and count, two filters', inFlight: [1] },
  { subject: 'pageAfterWrite', title: 'the same after a write of a field each time', inFlight: [1] },
  { subject: 'append', title: 'log, one message', inFlight: [1, 64] },
  { subject: 'appendWindow', title: 'log, windows of 256', inFlight: [1, 16] },
  { subject: 'samples1', title: 'samples, one', inFlight: [64] },
  { subject: 'samples100', title: 'samples, batches of 100', inFlight: [8] },
  { subject: 'samples1000', title: 'samples, batches of 1,000', inFlight: [1, 4] },
  { subject: 'hourly', title: 'hourly figures over 1 M samples (by hand: the mean)', inFlight: [1] },
]
/** ms by the clock: samples shorter than a checkpoint would miss it */
const MEASURE_MS = 4_000

export const storage = measurement<'storage'>({
  name: 'storage',
  title: 'Storage on SQLite: synced to the disk (samples: safe from kill -9), by the clock',
  lines: () =>
    SUBJECTS.flatMap(({ subject, title, inFlight }) => [
      ...inFlight.map((count): LinePlan<'storage'> => ({
        name: `${subject}-${count}`,
        title: count === 1 ? title : `${title}, ${count} in flight`,
        request: { kind: 'storage', subject, side: 'store', inFlight: count, measureMs: MEASURE_MS },
        maxRounds: 3,
      })),
      {
        name: `${subject}-hand`,
        title: `${title}, by hand`,
        request: { kind: 'storage', subject, side: 'hand', inFlight: 1, measureMs: MEASURE_MS },
        maxRounds: 3,
      },
    ]),
  cost: ({ perSecond }) => 1e6 / perSecond,
  costUnit: 'us each',
  head: ['storage', 'per second', 'of by hand', 'ms p50', 'ms p99', 'stall p99', 'stall max'],
  cells({ name, samples }, all) {
    const of = (key: keyof (typeof samples)[number]): number => median(samples.map((sample) => sample[key]))
    const hand = all.find((line) => line.name === `${name.split('-')[0]}-hand`)?.samples ?? []
    const limit = hand.length === 0 ? undefined : median(hand.map(({ perSecond }) => perSecond))
    return [
      rate(of('perSecond')),
      percent(of('perSecond'), limit),
      digits(of('p50')),
      digits(of('p99')),
      `${digits(of('stallP99'))} ms`,
      `${digits(of('stallMax'))} ms`,
    ]
  },
})
