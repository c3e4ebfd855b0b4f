/** A sweep of five values beside five runs. */
import { digits, median, percent } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { SweepSample, SweepWay } from '../samples/sweep.ts'

const WAYS: readonly { way: SweepWay; title: string }[] = [
  { way: { feed: 'text', as: 'runs' }, title: 'five runs over a CSV text' },
  { way: { feed: 'text', as: 'sweep' }, title: 'one sweep over a CSV text' },
  { way: { feed: 'objects', as: 'runs' }, title: 'five runs over messages in memory' },
  { way: { feed: 'objects', as: 'sweep' }, title: 'one sweep over messages in memory' },
]

const cost = ({ cpuMs, messages }: SweepSample) => (cpuMs * 1e6) / messages

export const sweep = measurement<'sweep'>({
  name: 'sweep',
  title: 'Sweep: five thresholds over 50,000 messages, five nodes with gate and cool-down',
  lines: () =>
    WAYS.map(({ way, title }) => ({ name: `${way.feed}-${way.as}`, title, request: { kind: 'sweep', way } })),
  cost,
  costUnit: 'ns/message',
  head: ['way', 'ns/message', 'min', 'max', 'of five runs'],
  cells(line, all) {
    const costs = line.samples.map(cost)
    const runs = all.find(({ name }) => name === line.name.replace('-sweep', '-runs'))
    const runsCost = runs && runs.samples.length > 0 ? median(runs.samples.map(cost)) : undefined
    const share = line === runs ? '-' : percent(median(costs), runsCost)
    return [digits(median(costs)), digits(Math.min(...costs)), digits(Math.max(...costs)), share]
  },
})
