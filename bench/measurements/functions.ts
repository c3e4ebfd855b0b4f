/** Plugs of a tenant in processes of their own: how many calls, how late at half of the target, and what a start costs. */
import { digits, median, megabytes, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { FunctionsSample, FunctionsSubject } from '../samples/functions.ts'

const SUBJECTS: readonly { readonly subject: FunctionsSubject; readonly title: string }[] = [
  { subject: 'calls-node', title: 'Node, 32 calls at a time' },
  { subject: 'calls-python', title: 'Python, 32 calls at a time' },
  { subject: 'half-node', title: 'Node, 5,000 calls a second' },
  { subject: 'cold-node', title: 'Node, no process yet' },
  { subject: 'cold-python', title: 'Python, no process yet' },
  { subject: 'idle', title: '200 versions, each called once' },
]

export const functions = measurement<'functions'>({
  name: 'functions',
  title: 'Functions: a fenced sensor plug called by the host, by the clock',
  lines: () =>
    SUBJECTS.map(({ subject, title }) => ({
      name: subject,
      title,
      request: { kind: 'functions', subject },
      maxRounds: 5,
    })),
  cost: ({ p99 }) => p99 * 1_000,
  costUnit: 'us p99',
  head: ['calls', 'a second', 'ms p50 / p99', "us of the host's CPU each", 'processes left', 'memory of the host'],
  cells({ name, samples }) {
    const of = (key: keyof FunctionsSample): number => median(samples.map((sample) => sample[key]))
    return [
      rate(of('perSecond')),
      `${digits(of('p50'))} / ${digits(of('p99'))}`,
      name.startsWith('half') ? '' : digits(of('cpu')),
      digits(of('processes')),
      megabytes(of('memory')),
    ]
  },
})
