/** Cost per event from 1 to 100,000 rules, one per resource; as a table, and as a plot. */
import { digits, median, percent } from '../figures.ts'
import { measurement, type Line, type LinePlan, type Section } from '../measurement.ts'
import type { ThroughputSample } from '../subject.ts'
import { CLOSURE, OWN, subjectNamed } from '../subjects/index.ts'
import { plotSvg } from '../../src/bench/svg-plot.ts'
import { growthName, type Hits } from '../workloads/growth.ts'
import { nanosPerEvent } from './throughput.ts'

const COUNTS = [1, 10, 100, 1000, 10_000, 100_000]
const HITS: readonly { hits: Hits; title: string }[] = [
  { hits: 'one', title: 'events about one resource' },
  { hits: 'all', title: 'events about any of them' },
]
const SUBJECTS = [CLOSURE, OWN]
const TITLE = 'Growth: cost per event, by the number of rules on other resources'

export const growth = measurement<'throughput'>({
  name: 'growth',
  title: TITLE,
  lines: ({ measureMs }) =>
    HITS.flatMap(({ hits, title }) =>
      COUNTS.flatMap((rules) =>
        SUBJECTS.map((subject): LinePlan<'throughput'> => {
          const workload = growthName(rules, hits)
          return {
            name: lineName(subject, hits, rules),
            title: `${rules.toLocaleString('en')} ${rules === 1 ? 'rule' : 'rules'}, ${title}, ${subject}`,
            request: { kind: 'throughput', workload, subject, feed: 'object', measureMs: measureMs / 2 },
            maxRounds: 2,
          }
        }),
      ),
    ),
  cost: nanosPerEvent,
  costUnit: 'ns/event',
  head: ['rules', 'ns/event', 'min', 'max', 'of the closure'],
  cells(line, all) {
    const costs = line.samples.map(nanosPerEvent)
    const hand = all.find(({ name }) => name === line.name.replace(OWN, CLOSURE))
    const handCost = hand && medianCost(hand)
    return [
      digits(median(costs)),
      digits(Math.min(...costs)),
      digits(Math.max(...costs)),
      line === hand || handCost === undefined ? '-' : percent(handCost, median(costs)),
    ]
  },
})

function lineName(subject: string, hits: Hits, rules: number): string {
  return `${subject}-${hits}-${rules}`
}

function medianCost({ samples, failure }: Line<ThroughputSample>): number | undefined {
  return failure === undefined && samples.length > 0 ? median(samples.map(nanosPerEvent)) : undefined
}

/** The plot of an opened and sampled `growth`. */
export function growthPlot({ lines }: Section): string {
  return plotSvg({
    title: TITLE,
    x: 'rules, one per resource',
    y: 'ns of CPU per event',
    series: HITS.flatMap(({ hits, title }) =>
      SUBJECTS.map((subject) => {
        const points = COUNTS.flatMap((rules): { x: number; y: number }[] => {
          const line = lines.find(({ name }) => name === lineName(subject, hits, rules))
          const cost = line && medianCost(line as Line<ThroughputSample>)
          return cost === undefined ? [] : [{ x: rules, y: cost }]
        })
        return { title: `${subjectNamed(subject).title}, ${title}`, points, dashed: subject === CLOSURE }
      }),
    ),
  })
}
