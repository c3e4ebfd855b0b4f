/** The registry of functions: long lists, durable jobs, and a large upload. */
import { digits, median, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { RegistrySample, RegistrySubject } from '../samples/registry.ts'

const SUBJECTS: readonly { readonly subject: RegistrySubject; readonly title: string }[] = [
  { subject: 'list', title: 'lists of 10,000 versions by tags and wql' },
  { subject: 'list-changing', title: 'the same, each after a change' },
  { subject: 'jobs', title: 'durable jobs on SQLite' },
  { subject: 'upload', title: 'an upload of 50 MB' },
]

export const registry = measurement<'registry'>({
  name: 'registry',
  title: 'Registry of functions, by the clock',
  lines: () =>
    SUBJECTS.map(({ subject, title }) => ({
      name: subject,
      title,
      request: { kind: 'registry', subject },
      maxRounds: 5,
    })),
  cost: ({ p99, perSecond, held }) => [p99 * 1_000, held * 1_000, 1e6 / perSecond].find(Number.isFinite) ?? 0,
  costUnit: 'us: p99, the loop held, or each job',
  head: ['what', 'a second', 'ms p50 / p99', 'ms that the loop was held', "ms of the host's CPU each"],
  cells({ samples }) {
    const of = (key: keyof RegistrySample): number => median(samples.map((sample) => sample[key]))
    const shown = (value: number, show: (value: number) => string): string =>
      Number.isFinite(value) ? show(value) : ''
    return [
      shown(of('perSecond'), rate),
      [of('p50'), of('p99')].filter(Number.isFinite).map(digits).join(' / '),
      shown(of('held'), digits),
      digits(of('cpu')),
    ]
  },
})
