/** A condition as expression and as JSON Logic beside the same by hand, and statistics over short and long windows. */
import { digits, median } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { ExpressionsSample, ExpressionSubject } from '../samples/expressions.ts'

const TITLES: readonly (readonly [subject: ExpressionSubject, title: string, beside?: ExpressionSubject])[] = [
  ['closure', 'closure by hand'],
  ['expression', 'expression', 'closure'],
  ['logic', 'JSON Logic', 'json-logic-engine'],
  ['json-logic-engine', 'json-logic-engine 5.0.7, compiled'],
  ['window-10', 'windowStats, mean of 10'],
  ['window-1000', 'windowStats, mean of 1,000', 'window-10'],
  ['percentile-10', 'windowStats, percentile of 10'],
  ['percentile-1000', 'windowStats, percentile of 1,000', 'percentile-10'],
]

const cost = ({ cpuMs, events }: ExpressionsSample) => (cpuMs * 1e6) / events

export const expressions = measurement<'expressions'>({
  name: 'expressions',
  title: 'Expressions: one condition of four comparisons, and windows, without an engine around them',
  lines: ({ measureMs }) =>
    TITLES.map(([subject, title]) => ({
      name: subject,
      title,
      request: { kind: 'expressions', subject, measureMs },
      needsPeers: subject === 'json-logic-engine',
    })),
  cost,
  costUnit: 'ns/event',
  head: ['what', 'ns/event', 'min', 'max', 'times', 'of'],
  cells(line, all) {
    const costs = line.samples.map(cost)
    const besideName = TITLES.find(([subject]) => subject === line.name)?.[2]
    const beside = all.find(({ name }) => name === besideName)
    const known = beside !== undefined && beside.samples.length > 0
    const times = known ? digits(median(costs) / median(beside.samples.map(cost))) : '-'
    return [digits(median(costs)), digits(Math.min(...costs)), digits(Math.max(...costs)), times, beside?.title ?? '-']
  },
})
