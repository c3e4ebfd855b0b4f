/** What running rules and tasks of a fleet take in memory, and what their start takes in time. */
import { digits, median, megabytes, rate } from '../figures.ts'
import { measurement, type LinePlan } from '../measurement.ts'
import { CLOSURE, PEER, subjectNamed } from '../subjects/index.ts'

const OWN_KINDS = [
  { what: 'same', title: 'reflexarc, one rule on all resources' },
  { what: 'different', title: 'reflexarc, a rule of its own each' },
]

export const memory = measurement<'memory'>({
  name: 'memory',
  title: 'Memory: running rules of two sensors, gate, actuator',
  lines: ({ subjects }) => [
    ...[20_000, 100_000].flatMap((rules) =>
      OWN_KINDS.map(({ what, title }): LinePlan<'memory'> => {
        return { name: `${what}-${rules}`, title, request: { kind: 'memory', rules, what }, maxRounds: 3 }
      }),
    ),
    ...[CLOSURE, PEER]
      .filter((name) => subjects.includes(name))
      .map((name): LinePlan<'memory'> => {
        const { title, installed = false } = subjectNamed(name)
        const request = { kind: 'memory', rules: 20_000, what: name } as const
        return { name, title, request, needsPeers: installed, maxRounds: 3 }
      }),
  ],
  cost: ({ heapPerRule }) => heapPerRule,
  costUnit: 'B/rule',
  head: ['rules', 'count', 'heap per rule', 'with its document', 'CPU per start', 'RSS'],
  cells: ({ samples }) => [
    median(samples.map(({ rules }) => rules)).toLocaleString('en'),
    `${digits(median(samples.map(({ heapPerRule }) => heapPerRule)))} B`,
    `${digits(median(samples.map(({ heapWithDocument }) => heapWithDocument)))} B`,
    `${digits(median(samples.map(({ microsPerStart }) => microsPerStart)))} us`,
    megabytes(median(samples.map(({ rss }) => rss))),
  ],
})

export const fleet = measurement<'fleet'>({
  name: 'fleet',
  title: 'Fleet: tasks of one template, five nodes each',
  lines: () =>
    [
      { tasks: 100_000, messages: 0 },
      { tasks: 100_000, messages: 1 },
      { tasks: 100_000, messages: 4 },
      { tasks: 1_000_000, messages: 0 },
    ].map(({ tasks, messages }) => {
      const title = `${tasks.toLocaleString('en')} tasks, ${messages === 0 ? 'idle' : `${messages} messages each`}`
      const request = { kind: 'fleet', tasks, messages } as const
      return { name: messages === 0 ? `${tasks}` : `${tasks}-heard-${messages}`, title, request, maxRounds: 3 }
    }),
  cost: ({ tasks, cpuMs }) => (cpuMs * 1000) / tasks,
  costUnit: 'us/start',
  head: ['fleet', 'starts/s and core', 'starts/s by the clock', 'heap per task', 'RSS'],
  cells: ({ samples }) => [
    rate(median(samples.map(({ tasks, cpuMs }) => (tasks / cpuMs) * 1000))),
    rate(median(samples.map(({ tasks, wallMs }) => (tasks / wallMs) * 1000))),
    `${digits(median(samples.map(({ heapPerTask }) => heapPerTask)))} B`,
    megabytes(median(samples.map(({ rss }) => rss))),
  ],
})
