/** Contents of objects beside bare routes on the same disk, signatures, and pages of a bucket of 200,000. */
import { digits, median, megabytes, percent, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { ObjectsSample, ObjectsSubject } from '../samples/objects.ts'

const SUBJECTS: readonly {
  readonly subject: ObjectsSubject
  readonly title: string
  readonly beside?: ObjectsSubject
}[] = [
  { subject: 'bare-download', title: '100 MB from a bare fastify stream' },
  { subject: 'download', title: '100 MB by a signed address', beside: 'bare-download' },
  { subject: 'bare-upload', title: '100 MB through a pipe with MD5 to a file, not synced' },
  { subject: 'upload', title: '100 MB by a signed address, MD5, synced', beside: 'bare-upload' },
  { subject: 'signatures', title: 'a signature checked' },
  { subject: 'pages', title: 'a page of 200 out of 200,000 objects' },
  { subject: 'folder-pages', title: 'a page of 200 out of 400 folders of 500 each' },
]

export const objects = measurement<'objects'>({
  name: 'objects',
  title: 'Objects: contents over HTTP (bytes a second, client on the same cores), signatures and pages (a second)',
  lines: () =>
    SUBJECTS.map(({ subject, title }) => ({
      name: subject,
      title,
      request: { kind: 'objects', subject },
      maxRounds: 5,
    })),
  cost: ({ perSecond }) => 1e9 / perSecond,
  costUnit: 'ns',
  head: ['what', 'a second', 'of the bare route', 'ms p50 / p99', 'memory of the host'],
  cells({ name, samples }, all) {
    const of = (key: keyof ObjectsSample): number => median(samples.map((sample) => sample[key]))
    const beside = SUBJECTS.find(({ subject }) => subject === name)?.beside
    const bare = all.find((line) => line.name === beside)?.samples.map(({ perSecond }) => perSecond) ?? []
    return [
      rate(of('perSecond')),
      bare.length > 0 ? percent(of('perSecond'), median(bare)) : '',
      `${digits(of('p50'))} / ${digits(of('p99'))}`,
      of('memory') > 0 ? megabytes(of('memory')) : '',
    ]
  },
})
