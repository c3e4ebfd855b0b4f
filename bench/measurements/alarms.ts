/** Alarms on SQLite: raised, raised again, listed among a million, told to a thousand readers. */
import { digits, median, percent, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { AlarmsSubject } from '../samples/alarms/subject.ts'

/** Subject, title, and the line that is its limit. */
const SUBJECTS: readonly (readonly [subject: AlarmsSubject, title: string, limit?: AlarmsSubject])[] = [
  ['raise', 'raised on 10,000 sources, 64 in flight', 'raise-writes'],
  ['raise-writes', 'the same commits, without the service'],
  ['repeat', 'raised again on 10,000 sources, 64 in flight', 'repeat-writes'],
  ['repeat-writes', 'the same commits, without the service'],
  ['list', 'page and total of a source and a status among 1 M alarms'],
  ['stream', 'event until the last of 1,000 readers over HTTP has it'],
]

export const alarms = measurement<'alarms'>({
  name: 'alarms',
  title: 'Alarms on SQLite, synced to the disk, by the clock',
  lines: () =>
    SUBJECTS.map(([subject, title]) => ({
      name: `alarms-${subject}`,
      title,
      request: { kind: 'alarms', subject },
      maxRounds: subject === 'list' ? 1 : 3,
    })),
  cost: ({ perSecond }) => 1e6 / perSecond,
  costUnit: 'us each',
  head: ['alarms', 'per second', 'of its limit', 'ms p50', 'ms p99'],
  cells({ name, samples }, all) {
    const of = (key: keyof (typeof samples)[number]): number => median(samples.map((sample) => sample[key]))
    const limitName = SUBJECTS.find(([subject]) => name === `alarms-${subject}`)?.[2]
    const limit = all.find((line) => line.name === `alarms-${limitName ?? ''}`)?.samples ?? []
    const most = limit.length === 0 ? undefined : median(limit.map(({ perSecond }) => perSecond))
    return [rate(of('perSecond')), percent(of('perSecond'), most), digits(of('p50')), digits(of('p99'))]
  },
})
