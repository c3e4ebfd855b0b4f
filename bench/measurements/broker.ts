/** The broker of a whole host on SQLite, posted to and listened to over loopback; who asks shares the cores. */
import { digits, median, rate } from '../figures.ts'
import { measurement, type LinePlan } from '../measurement.ts'
import type { BrokerPostsRequest, BrokerPostsSample } from '../samples/broker/posts.ts'

const POINTS = 1_000
const SUBSCRIBERS = 10_000

type Subject = BrokerPostsRequest['subject']

const TITLES: Readonly<Record<Subject, string>> = {
  bare: 'a bare fastify route',
  broker: 'the broker, nobody listens',
  task: 'the broker, a task listens to each resource',
  append: 'series alone, without HTTP',
}

export const brokerPosts = posts('broker-posts', 'Broker: a message of five metrics, 64 connections', 1, [
  'bare',
  'broker',
  'task',
])

export const brokerArrays = posts(
  'broker-arrays',
  `Broker: an array of ${digits(POINTS)} points, 64 connections`,
  POINTS,
  ['bare', 'append', 'broker'],
)

export const brokerFanOut = measurement<'brokerFanOut'>({
  name: 'broker-fan-out',
  title: 'Broker: a message to all readers of a stream of events',
  lines: () => [
    {
      name: 'fan-out',
      title: `${digits(SUBSCRIBERS)} readers`,
      request: { kind: 'brokerFanOut', subscribers: SUBSCRIBERS },
      maxRounds: 3,
    },
  ],
  cost: ({ allMs }) => (median(allMs) * 1_000) / SUBSCRIBERS,
  costUnit: 'us/reader',
  head: ['readers', 'ms until all have it, median', 'max', 'loop blocked at most'],
  cells({ samples }) {
    const all = samples.flatMap(({ allMs }) => allMs)
    const loopMax = median(samples.map((sample) => sample.loopMax))
    return [digits(median(all)), digits(Math.max(...all)), `${digits(loopMax)} ms`]
  },
})

function posts(name: string, title: string, points: number, subjects: readonly Subject[]) {
  return measurement<'brokerPosts'>({
    name,
    title,
    lines: () =>
      subjects.map((subject): LinePlan<'brokerPosts'> => {
        return { name: subject, title: TITLES[subject], request: { kind: 'brokerPosts', subject, points } }
      }),
    cost: mainMicros,
    costUnit: 'us/post',
    head: ['server', 'posts/s', 'us/post of the main thread', 'of all threads', 'posts/s x bare'],
    cells({ samples }, all) {
      const bare = all.find((line) => line.name === 'bare')?.samples.map(perSecond) ?? []
      const own = median(samples.map(perSecond))
      return [
        rate(own),
        digits(median(samples.map(mainMicros))),
        digits(median(samples.map(({ allCpuMs, posts: count }) => (allCpuMs * 1_000) / count))),
        bare.length === 0 ? '' : digits(own / median(bare)),
      ]
    },
  })
}

function perSecond({ posts: count, wallMs }: BrokerPostsSample): number {
  return (count * 1_000) / wallMs
}

function mainMicros({ posts: count, cpuMs }: BrokerPostsSample): number {
  return (cpuMs * 1_000) / count
}
