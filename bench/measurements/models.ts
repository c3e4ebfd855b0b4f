/** Hosted models: the booster evaluator beside a worker in Python, a forest over HTTP beside its worker, and batches. */
import { digits, median, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { ModelsSample, ModelsSubject } from '../samples/models.ts'

const SUBJECTS: readonly { readonly subject: ModelsSubject; readonly title: string }[] = [
  { subject: 'evaluator', title: 'a booster, evaluated by the host' },
  { subject: 'booster-worker', title: 'the same booster in Python, one caller' },
  { subject: 'forest-worker', title: 'a forest of scikit-learn, one caller of its worker' },
  { subject: 'forest-http', title: 'the same over HTTP, one connection' },
  { subject: 'forest-http-64', title: 'the same over HTTP, 64 connections' },
  { subject: 'wake', title: 'the forest, no process yet' },
]

export const models = measurement<'models'>({
  name: 'models',
  title: 'Hosted models: single predictions, by the clock; those in Python want the frameworks of the tests',
  lines: () =>
    SUBJECTS.map(({ subject, title }) => ({
      name: subject,
      title,
      request: { kind: 'models', subject },
      maxRounds: 5,
    })),
  cost: ({ p99 }) => p99 * 1_000,
  costUnit: 'us p99',
  head: ['model', 'predictions a second', 'ms p50 / p99'],
  cells({ name, samples }) {
    const of = (key: keyof ModelsSample): number => median(samples.map((sample) => sample[key]))
    return [name === 'wake' ? '' : rate(of('perSecond')), `${digits(of('p50'))} / ${digits(of('p99'))}`]
  },
})
