/** The broker of a whole host on SQLite, posted to and listened to over loopback; who asks shares the cores. */
import { digits, median, megabytes, percent, rate } from '../figures.ts'
import { measurement, type LinePlan } from '../measurement.ts'
import { DISK_SECONDS, type BrokerDiskSample } from '../samples/broker/disk.ts'
import type { BrokerMemorySample } from '../samples/broker/memory.ts'
import type { BrokerPostsRequest, BrokerPostsSample } from '../samples/broker/posts.ts'

const POINTS = 1_000
const SUBSCRIBERS = 10_000

type Subject = BrokerPostsRequest['subject']

const TITLES: Readonly<Record<Subject, string>> = {
  bare: 'a bare fastify route',
  broker: 'the broker, nobody listens',
  'broker-keyed': 'the same, each with an idempotency key of its own',
  task: 'the broker, a task listens to each resource',
  append: 'series alone, without HTTP',
  converter: 'the broker behind a converter, as a gateway sends them',
  keyed: 'behind a converter, each with a key of its own',
}

export const brokerPosts = posts('broker-posts', 'Broker: a message of five metrics, 64 connections', 1, [
  'bare',
  'broker',
  'broker-keyed',
  'task',
  'converter',
  'keyed',
])

export const brokerArrays = posts(
  'broker-arrays',
  `Broker: an array of ${digits(POINTS)} points, 64 connections`,
  POINTS,
  ['bare', 'append', 'broker', 'broker-keyed', 'converter', 'keyed'],
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

export const brokerLatency = measurement<'brokerLatency'>({
  name: 'broker-latency',
  title: 'Broker: from the arrival of a post to the call of an actuator, posts by the clock over 64 connections, ms',
  lines: () =>
    [0.1, 0.5].map((share) => ({
      name: `latency-${share}`,
      title: `${share * 100} % of what clients that wait reach`,
      request: { kind: 'brokerLatency', share },
      maxRounds: 3,
    })),
  cost: ({ arrived }) => arrived.p99,
  costUnit: 'ms p99',
  head: [
    'posts',
    'posts/s',
    'p50',
    'p99',
    'max',
    'since it was sent, p50',
    'p99',
    'max',
    'longest collection',
    'no core',
    'machine stood',
    'set aside, p99',
  ],
  cells({ samples }) {
    const delays = (since: 'arrived' | 'sent'): readonly string[] =>
      (['p50', 'p99', 'max'] as const).map((key) => digits(median(samples.map((sample) => sample[since][key]))))
    return [
      rate(median(samples.map(({ perSecond: count }) => count))),
      ...delays('arrived'),
      ...delays('sent'),
      digits(median(samples.map(({ gcMax }) => gcMax))),
      percent(median(samples.map(({ noCore }) => noCore)), 1),
      `${digits(median(samples.map(({ stood }) => stood)))} ms`,
      samples.flatMap(({ setAside }) => setAside.map(({ arrived }) => digits(arrived.p99))).join(', ') || 'none',
    ]
  },
})

export const brokerMemory = measurement<'brokerMemory'>({
  name: 'broker-memory',
  title: 'Broker: memory after single messages of 1,000 resources, heap and external after a full collection',
  lines: ({ messages }) =>
    (['broker', 'host'] as const).map((subject) => ({
      name: subject,
      title: `${digits(messages)} messages, ${subject === 'broker' ? 'without HTTP' : 'a task listens to each resource'}`,
      request: { kind: 'brokerMemory', subject, messages },
      maxRounds: 1,
    })),
  cost: ({ looks }) => looks.at(-1)?.heap ?? Number.NaN,
  costUnit: 'B of heap in the end',
  head: [
    'posts',
    'posts/s',
    'heap at each tenth, MiB',
    'it grew since the second',
    'external',
    'RSS at the second',
    'in the end',
  ],
  cells({ samples }) {
    const [sample] = samples
    if (sample === undefined) return []
    const { looks, perSecond: count } = sample
    return [
      rate(count),
      looks.map(({ heap }) => (heap / 1_048_576).toFixed(1)).join(' '),
      megabytes(grown(sample)),
      megabytes(looks.at(-1)?.external ?? Number.NaN),
      megabytes(looks[1]?.rss ?? Number.NaN),
      megabytes(looks.at(-1)?.rss ?? Number.NaN),
    ]
  },
})

export const brokerDisk = measurement<'brokerDisk'>({
  name: 'broker-disk',
  title: 'Broker: what ten devices have a host write to the disk, a message of five metrics at a time',
  lines: () =>
    [1, 10].flatMap((perSecond) =>
      [false, true].map((hasTasks) => ({
        name: `${perSecond}${hasTasks ? '-tasks' : ''}`,
        title: `${perSecond} messages/s, ${hasTasks ? 'a task listens to each device' : 'nobody listens'}`,
        request: { kind: 'brokerDisk', perSecond, hasTasks },
        maxRounds: 1,
      })),
    ),
  cost: writtenPerPost,
  costUnit: 'B/message',
  head: ['messages', 'KiB written per message', 'x its body', 'GiB a day'],
  cells: ({ samples }) =>
    samples
      .slice(0, 1)
      .flatMap((sample) => [
        digits(writtenPerPost(sample) / 1_024),
        digits(sample.written / sample.bodies),
        digits((sample.written / DISK_SECONDS) * (86_400 / 1_073_741_824)),
      ]),
})

function writtenPerPost({ written, posts: count }: BrokerDiskSample): number {
  return written / count
}

/** bytes of heap since the second look: what every run fills at first is left out */
function grown({ looks }: BrokerMemorySample): number {
  return (looks.at(-1)?.heap ?? Number.NaN) - (looks[1]?.heap ?? Number.NaN)
}

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
