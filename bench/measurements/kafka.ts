/** The engine on Kafka, beside a bare consumer and producer. */
import { digits } from '../figures.ts'
import { type LinePlan, measurement, middle } from '../measurement.ts'
import type { KafkaSubject } from '../samples/kafka.ts'

const TITLES: Readonly<Record<KafkaSubject, string>> = {
  bare: 'consumer and producer that only decode',
  worker: 'worker, slices of 100 ms',
}

export const kafka = measurement('kafka', {
  name: 'kafka',
  title: 'Engine on Kafka: CPU time of a message, with one alarm of a hundred messages',
  lines: (Object.keys(TITLES) as KafkaSubject[]).map((subject): LinePlan<'kafka'> => {
    return { name: subject, title: TITLES[subject], request: { subject } }
  }),
  maxRounds: 3,
  cost: ({ perMessage }) => perMessage,
  costUnit: 'us per message',
  what: 'what',
  columns: [
    ['us per message', middle(({ perMessage }) => perMessage, digits)],
    ['limit', ({ name }) => (name === 'worker' ? '15' : '')],
  ],
})
