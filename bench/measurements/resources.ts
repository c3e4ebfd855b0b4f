/** Resources on SQLite: 100,000 of 20 types, read with inherited values, listed, searched by place and changed. */
import { digits, median, percent, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { ResourcesSubject } from '../samples/resources/subject.ts'

/** Subject, title, and the line that is its limit. */
const SUBJECTS: readonly (readonly [subject: ResourcesSubject, title: string, limit?: ResourcesSubject])[] = [
  ['get', 'one, with inherited values'],
  ['list', 'page of 100 and total, of a type, a tag and a text'],
  ['geo', 'page of 100 and total, within 10 km'],
  ['patch', 'an attribute changed, 64 in flight', 'put'],
  ['patch-writes', 'the same commits, without the service', 'put'],
  ['put', 'the resource alone, without history and log'],
]

export const resources = measurement<'resources'>({
  name: 'resources',
  title: 'Resources on SQLite: 100,000 of 20 types, by the clock',
  lines: () =>
    SUBJECTS.map(([subject, title]) => ({
      name: `resources-${subject}`,
      title,
      request: { kind: 'resources', subject },
      maxRounds: 1,
    })),
  cost: ({ perSecond }) => 1e6 / perSecond,
  costUnit: 'us each',
  head: ['resources', 'per second', 'of its limit', 'ms p50', 'ms p99'],
  cells({ name, samples }, all) {
    const of = (key: keyof (typeof samples)[number]): number => median(samples.map((sample) => sample[key]))
    const limitName = SUBJECTS.find(([subject]) => name === `resources-${subject}`)?.[2]
    const limit = all.find((line) => line.name === `resources-${limitName ?? ''}`)?.samples ?? []
    const most = limit.length === 0 ? undefined : median(limit.map(({ perSecond }) => perSecond))
    return [rate(of('perSecond')), percent(of('perSecond'), most), digits(of('p50')), digits(of('p99'))]
  },
})
