/** Broker of a whole host on SQLite over loopback; clients share the cores. */
import { digits, median, percent, rate } from '../figures.ts'
import { measurement, middle, most, overall, type Line, type Measurement } from '../measurement.ts'
import { DISK_SECONDS, type BrokerDiskSample } from '../samples/broker/disk.ts'
import type { BrokerLatencySample } from '../samples/broker/latency.ts'
import type { BrokerPostsRequest, BrokerPostsSample } from '../samples/broker/posts.ts'

const POINTS = 1_000
const SUBSCRIBERS = 10_000

type Subject = BrokerPostsRequest['subject']

const TITLES: Readonly<Record<Subject, string>> = {
  bare: 'a bare fastify route',
  broker: 'the broker, without a task',
  keyed: 'the same, each with its own idempotency key',
  task: 'the broker, with a task on each resource',
  append: 'series alone, without HTTP',
}

const millis = (ms: number): string => `${digits(ms)} ms`

export const brokerPosts = posts('broker-posts', 'a message of five metrics', 1, ['bare', 'broker', 'keyed', 'task'])

export const brokerArrays = posts('broker-arrays', `an array of ${digits(POINTS)} points`, POINTS, [
  'bare',
  'append',
  'broker',
  'keyed',
])

export const brokerFanOut = measurement('brokerFanOut', {
  name: 'broker-fan-out',
  title: 'Broker: a message to all readers of a stream of events',
  lines: [{ name: 'fan-out', title: `${digits(SUBSCRIBERS)} readers`, request: { subscribers: SUBSCRIBERS } }],
  maxRounds: 3,
  cost: ({ allMs }) => (median(allMs) * 1_000) / SUBSCRIBERS,
  costUnit: 'us/reader',
  what: 'readers',
  columns: [
    ['ms until all readers have it, median', ({ samples }) => digits(median(samples.flatMap(({ allMs }) => allMs)))],
    ['max', overall(most, ({ allMs }) => most(allMs))],
    ['loop blocked at most', middle(({ loopMax }) => loopMax, millis)],
  ],
})

const delays = (since: 'arrived' | 'sent', head: string) =>
  (['p50', 'p99', 'max'] as const).map(
    (key) => [`${head}${key}`, middle((sample: BrokerLatencySample) => sample[since][key])] as const,
  )

export const brokerLatency = measurement('brokerLatency', {
  name: 'broker-latency',
  title: 'Broker: from the arrival of a post to the call of an actuator, posts by the clock over 64 connections, ms',
  lines: [0.1, 0.5].map((share) => ({
    name: `latency-${share}`,
    title: `${share * 100} % of the rate of clients that wait for answers`,
    request: { share },
  })),
  maxRounds: 3,
  cost: ({ arrived }) => arrived.p99,
  costUnit: 'ms p99',
  what: 'posts',
  columns: [
    ['posts/s', middle(({ perSecond: count }) => count, rate)],
    ...delays('arrived', ''),
    ...delays('sent', 'since it was sent, '),
    ['longest collection', middle(({ gcMax }) => gcMax)],
    [
      'no core',
      middle(
        ({ noCore }) => noCore,
        (share) => percent(share, 1),
      ),
    ],
    ['machine stood', middle(({ stood }) => stood, millis)],
    [
      'set aside, p99',
      ({ samples }) =>
        samples.flatMap(({ setAside }) => setAside.map(({ arrived }) => digits(arrived.p99))).join(', ') || 'none',
    ],
  ],
})

export const brokerDisk = measurement('brokerDisk', {
  name: 'broker-disk',
  title: 'Broker: bytes that a host writes to the disk for ten devices that send five metrics per message',
  lines: [1, 10].flatMap((perSecond) =>
    [false, true].map((hasTasks) => ({
      name: `${perSecond}${hasTasks ? '-tasks' : ''}`,
      title: `${perSecond} messages/s, ${hasTasks ? 'with a task on each device' : 'without tasks'}`,
      request: { perSecond, hasTasks },
    })),
  ),
  maxRounds: 1,
  cost: writtenPerPost,
  costUnit: 'B/message',
  what: 'messages',
  columns: [
    ['KiB written per message', middle((sample) => writtenPerPost(sample) / 1_024)],
    ['x its body', middle(({ written, bodies }) => written / bodies)],
    ['GiB a day', middle(({ written }) => (written / DISK_SECONDS) * (86_400 / 1_073_741_824))],
  ],
})

function writtenPerPost({ written, posts: count }: BrokerDiskSample): number {
  return written / count
}

function posts(name: string, what: string, points: number, subjects: readonly Subject[]): Measurement {
  return measurement('brokerPosts', {
    name,
    title: `Broker: ${what}, 64 connections`,
    lines: subjects.map((subject) => ({ name: subject, title: TITLES[subject], request: { subject, points } })),
    cost: mainMicros,
    costUnit: 'us/post',
    what: 'server',
    columns: [
      ['posts/s', middle(perSecond, rate)],
      ['us/post of the main thread', middle(mainMicros)],
      ['of all threads', middle(({ allCpuMs, posts: count }) => (allCpuMs * 1_000) / count)],
      ['posts/s x bare', besideBare],
    ],
  })
}

function besideBare({ samples }: Line<BrokerPostsSample>, all: readonly Line<BrokerPostsSample>[]): string {
  const bare = all.find((line) => line.name === 'bare')?.samples.map(perSecond) ?? []
  return bare.length === 0 ? '' : digits(median(samples.map(perSecond)) / median(bare))
}

function perSecond({ posts: count, wallMs }: BrokerPostsSample): number {
  return (count * 1_000) / wallMs
}

function mainMicros({ posts: count, cpuMs }: BrokerPostsSample): number {
  return (cpuMs * 1_000) / count
}
