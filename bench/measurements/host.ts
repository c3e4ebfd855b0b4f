/** The whole host on SQLite, in a process of its own, asked over loopback: by the clock, beside a client on the same cores. */
import { digits, median, megabytes, percent, rate } from '../figures.ts'
import { measurement } from '../measurement.ts'
import type { Spread } from '../samples/host/tasks.ts'

const MANY = 100_000
const BATCH = 10_000
/** ms by the clock */
const MEASURE_MS = 6_000

const spread = (all: readonly Spread[]): string =>
  `${digits(median(all.map(({ p50 }) => p50)))} / ${digits(median(all.map(({ p99 }) => p99)))}`

export const hostCreate = measurement<'hostCreate'>({
  name: 'host-create',
  title: 'Host: tasks of a template, created durably over kept connections',
  lines: () =>
    [1, 32, 128].map((connections) => ({
      name: `create-${connections}`,
      title: connections === 1 ? 'one connection' : `${connections} connections`,
      request: { kind: 'hostCreate', connections, measureMs: MEASURE_MS },
    })),
  cost: ({ perSecond }) => 1e6 / perSecond,
  costUnit: 'us each',
  head: ['creation', 'tasks/s', 'ms p50 / p99', 'us of CPU each', 'main thread busy', 'loop blocked at most'],
  cells({ samples }) {
    return [
      rate(median(samples.map(({ perSecond }) => perSecond))),
      spread(samples),
      digits(median(samples.map(({ cpu }) => cpu))),
      percent(median(samples.map(({ busy }) => busy)), 1),
      `${digits(median(samples.map(({ loopMax }) => loopMax)))} ms`,
    ]
  },
})

export const hostList = measurement<'hostList'>({
  name: 'host-list',
  title: `Host: a page of 100 of ${digits(MANY)} tasks with its count, by two filters; ms p50 / p99`,
  lines: () => [
    {
      name: 'list',
      title: 'at rest; right after a task was created',
      request: { kind: 'hostList', tasks: MANY },
      maxRounds: 3,
    },
  ],
  cost: ({ pairs }) => Math.max(...pairs.map(({ afterWrite }) => afterWrite.p99)) * 1_000,
  costUnit: 'us p99',
  head: ['listing', 'status, template', 'status, type', 'template, tag', 'status, tag', 'name, status'],
  cells({ samples }) {
    const [first] = samples
    return (first?.pairs ?? []).map((_, place) => {
      const found = samples.flatMap(({ pairs }) => pairs[place] ?? [])
      return `${spread(found.map(({ atRest }) => atRest))}; ${spread(found.map(({ afterWrite }) => afterWrite))}`
    })
  },
})

export const hostStart = measurement<'hostStart'>({
  name: 'host-start',
  title: `Host: started with ${digits(MANY)} running periodic tasks`,
  lines: () => [{ name: 'start', title: 'start', request: { kind: 'hostStart', tasks: MANY }, maxRounds: 3 }],
  cost: ({ readyMs }) => readyMs * 1_000,
  costUnit: 'us',
  head: ['tasks', 'ready after', 'loop blocked at most', 'heap each', 'RSS', 'created before'],
  cells({ samples }) {
    const of = (key: keyof (typeof samples)[number]): number => median(samples.map((sample) => sample[key]))
    return [
      `${digits(of('readyMs') / 1_000)} s`,
      `${digits(of('loopMax'))} ms`,
      `${digits(of('heapEach'))} B`,
      megabytes(of('rss')),
      `${rate(of('createPerSecond'))}/s`,
    ]
  },
})

export const hostRestart = measurement<'hostRestart'>({
  name: 'host-restart',
  title: 'Host: started with running tasks of one template that wait for messages',
  lines: () =>
    [
      { tasks: MANY, heard: false },
      { tasks: MANY, heard: true },
      { tasks: 10 * MANY, heard: false },
    ].map(({ tasks, heard }) => ({
      name: `restart-${tasks}${heard ? '-heard' : ''}`,
      title: `${digits(tasks)}, ${heard ? 'each has had a message' : 'none has had a message'}`,
      request: { kind: 'hostRestart', tasks, heard },
      maxRounds: 1,
    })),
  cost: ({ readyMs }) => readyMs * 1_000,
  costUnit: 'us',
  head: ['tasks', 'ready after', 'CPU of all threads', 'loop blocked at most', 'heap each', 'RSS'],
  cells({ samples }) {
    const of = (key: keyof (typeof samples)[number]): number => median(samples.map((sample) => sample[key]))
    return [
      `${digits(of('readyMs') / 1_000)} s`,
      `${digits(of('cpu') / 1_000)} s`,
      `${digits(of('loopMax'))} ms`,
      `${digits(of('heapEach'))} B`,
      megabytes(of('rss')),
    ]
  },
})

export const hostBatch = measurement<'hostBatch'>({
  name: 'host-batch',
  title: `Host: a batch operation that stops ${digits(BATCH)} tasks`,
  lines: () => [{ name: 'stop', title: 'stop', request: { kind: 'hostBatch', tasks: BATCH } }],
  cost: ({ wallMs }) => (wallMs * 1_000) / BATCH,
  costUnit: 'us each',
  head: ['operation', 'all done after', 'loop blocked p99', 'at most', 'collector at most'],
  cells({ samples }) {
    const of = (key: keyof (typeof samples)[number]): number => median(samples.map((sample) => sample[key]))
    return [
      `${digits(of('wallMs') / 1_000)} s`,
      `${digits(of('loopP99'))} ms`,
      `${digits(of('loopMax'))} ms`,
      `${digits(of('gcMax'))} ms`,
    ]
  },
})
