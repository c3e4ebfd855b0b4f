/** Whole host on SQLite in its own process, over loopback: by the clock, with the client on the same cores. */
import { digits, median, megabytes, percent, rate } from '../figures.ts'
import { measurement, middle } from '../measurement.ts'
import type { Spread } from '../samples/calls.ts'

const MANY = 100_000
/** ms by the clock */
const MEASURE_MS = 6_000

const seconds = (ms: number): string => `${digits(ms / 1_000)} s`
const millis = (ms: number): string => `${digits(ms)} ms`
const bytes = (count: number): string => `${digits(count)} B`
const spread = (all: readonly Spread[]): string =>
  `${digits(median(all.map(({ p50 }) => p50)))} / ${digits(median(all.map(({ p99 }) => p99)))}`

export const hostCreate = measurement('hostCreate', {
  name: 'host-create',
  title: 'Host: tasks of a template, created durably over kept connections',
  lines: [1, 32, 128].map((connections) => ({
    name: `create-${connections}`,
    title: connections === 1 ? 'one connection' : `${connections} connections`,
    request: { connections, measureMs: MEASURE_MS },
  })),
  cost: ({ perSecond }) => 1e6 / perSecond,
  costUnit: 'us each',
  what: 'creation',
  columns: [
    ['tasks/s', middle(({ perSecond }) => perSecond, rate)],
    ['ms p50 / p99', ({ samples }) => spread(samples)],
    ['us of CPU each', middle(({ cpu }) => cpu)],
    [
      'main thread busy',
      middle(
        ({ busy }) => busy,
        (share) => percent(share, 1),
      ),
    ],
    ['loop blocked at most', middle(({ loopMax }) => loopMax, millis)],
  ],
})

export const hostList = measurement('hostList', {
  name: 'host-list',
  title: `Host: a page of 100 of ${digits(MANY)} tasks with its count, by two filters; ms p50 / p99`,
  lines: [{ name: 'list', title: 'at rest; right after a task was created', request: { tasks: MANY } }],
  maxRounds: 3,
  cost: ({ pairs }) => Math.max(...pairs.map(({ afterWrite }) => afterWrite.p99)) * 1_000,
  costUnit: 'us p99',
  what: 'listing',
  columns: ['status, template', 'status, type', 'template, tag', 'status, tag', 'name, status'].map(
    (filters) =>
      [
        filters,
        ({ samples }) => {
          const found = samples.flatMap(({ pairs }) => pairs.filter((pair) => pair.filters === filters))
          return `${spread(found.map(({ atRest }) => atRest))}; ${spread(found.map(({ afterWrite }) => afterWrite))}`
        },
      ] as const,
  ),
})

export const hostStart = measurement('hostStart', {
  name: 'host-start',
  title: `Host: started with ${digits(MANY)} running periodic tasks`,
  lines: [{ name: 'start', title: 'start', request: { tasks: MANY } }],
  maxRounds: 3,
  cost: ({ readyMs }) => readyMs * 1_000,
  costUnit: 'us',
  what: 'tasks',
  columns: [
    ['ready after', middle(({ readyMs }) => readyMs, seconds)],
    ['loop blocked at most', middle(({ loopMax }) => loopMax, millis)],
    ['heap each', middle(({ heapEach }) => heapEach, bytes)],
    ['RSS', middle(({ rss }) => rss, megabytes)],
    [
      'created before',
      middle(
        ({ createPerSecond }) => createPerSecond,
        (count) => `${rate(count)}/s`,
      ),
    ],
  ],
})

export const hostRestart = measurement('hostRestart', {
  name: 'host-restart',
  title: 'Host: started with running tasks of one template that wait for messages',
  lines: [
    { tasks: MANY, active: false },
    { tasks: MANY, active: true },
    { tasks: 10 * MANY, active: false },
  ].map((request) => ({
    name: `restart-${request.tasks}${request.active ? '-active' : ''}`,
    title: `${digits(request.tasks)}, ${request.active ? 'each has had a message' : 'none has had a message'}`,
    request,
  })),
  maxRounds: 1,
  cost: ({ readyMs }) => readyMs * 1_000,
  costUnit: 'us',
  what: 'tasks',
  columns: [
    ['ready after', middle(({ readyMs }) => readyMs, seconds)],
    ['CPU of all threads', middle(({ cpu }) => cpu, seconds)],
    ['loop blocked at most', middle(({ loopMax }) => loopMax, millis)],
    ['heap each', middle(({ heapEach }) => heapEach, bytes)],
    ['RSS', middle(({ rss }) => rss, megabytes)],
  ],
})
