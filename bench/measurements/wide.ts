/** A rule that is much larger than others. */
import { digits, median, percent } from '../figures.ts'
import { measurement, type Line } from '../measurement.ts'
import type { WideSample } from '../samples/wide.ts'
import { CLOSURE, OWN, subjectNamed } from '../subjects/index.ts'
import { nanosPerEvent } from './throughput.ts'

const medianCost = ({ samples }: Line<WideSample>) => median(samples.map(nanosPerEvent))

export const wide = measurement<'wide'>({
  name: 'wide',
  title: 'Wide: one rule of 1,000 nodes (500 sensors, 499 AND gates in a tree, an actuator)',
  lines: ({ measureMs }) =>
    ([CLOSURE, OWN] as const).map((name) => {
      return {
        name,
        title: subjectNamed(name).title,
        request: { kind: 'wide', subject: name, measureMs },
        maxRounds: 3,
      }
    }),
  cost: nanosPerEvent,
  costUnit: 'ns/event',
  head: ['subject', 'start', 'ns/event', 'min', 'max', 'of the closure'],
  cells(line, all) {
    const closure = all.find(({ name, failure }) => name === CLOSURE && failure === undefined)
    const costs = line.samples.map(nanosPerEvent)
    return [
      `${digits(median(line.samples.map(({ startMs }) => startMs)))} ms`,
      digits(medianCost(line)),
      digits(Math.min(...costs)),
      digits(Math.max(...costs)),
      percent(1 / medianCost(line), closure && 1 / medianCost(closure)),
    ]
  },
})
