/** Messages from brokers into a host, beside consumers that do nothing else. */
import { digits, median, megabytes, rate } from '../figures.ts'
import { measurement, middle, type LinePlan } from '../measurement.ts'
import type { ConnectorsSubject } from '../samples/connectors.ts'

const SUBJECTS: Readonly<Record<ConnectorsSubject, string>> = {
  'kafka-bare': 'Kafka, a consumer alone',
  kafka: 'Kafka, a host on SQLite',
  'mqtt-bare': 'Mosquitto, a consumer alone, QoS 1',
  mqtt: 'Mosquitto, a host on SQLite, QoS 1',
}
const BASES: Readonly<Record<string, string>> = { kafka: 'kafka-bare', mqtt: 'mqtt-bare' }

export const connectors = measurement('connectors', {
  name: 'connectors',
  title: 'Connectors: a backlog of messages of 1,000 resources, by the clock',
  lines: (Object.keys(SUBJECTS) as ConnectorsSubject[]).map((subject): LinePlan<'connectors'> => {
    return { name: subject, title: SUBJECTS[subject], request: { subject } }
  }),
  maxRounds: 3,
  cost: ({ perSecond }) => 1e6 / perSecond,
  costUnit: 'us each',
  what: 'what',
  columns: [
    ['messages a second', middle(({ perSecond }) => perSecond, rate)],
    [
      'share of the bare consumer',
      ({ name, samples }, all) => {
        const base = all.find((line) => line.name === BASES[name])
        const shares = samples.flatMap(({ perSecond }, round) => perSecond / (base?.samples[round]?.perSecond ?? NaN))
        return base === undefined ? '' : digits(median(shares))
      },
    ],
    ['us of CPU each', middle(({ cpuUs }) => cpuUs)],
    ['memory', middle(({ rss }) => rss, megabytes)],
  ],
})
