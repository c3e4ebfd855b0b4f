/** Engine alone: recordings in virtual time, memory of rules and of a fleet, and slow sensors. */
import { digits, median, megabytes, percent, rate } from '../figures.ts'
import { least, measurement, middle, most, overall, type LinePlan } from '../measurement.ts'
import type { SlowSensorRequest, SlowSensorSample } from '../samples/slow-sensor/slow-sensor.ts'
import { CLOSURE, PEER, subjectNamed } from '../subjects/index.ts'

const bytes = (count: number): string => `${digits(count)} B`
const whole = (count: number): string => count.toLocaleString('en')

interface Played {
  messages: number
  cpuMs: number
}
const playedPerSecond = ({ messages, cpuMs }: Played): number => (messages / cpuMs) * 1000

export const simulations = measurement('simulate', {
  name: 'simulate',
  title: 'Simulation: one resource, five nodes with gate and cool-down',
  lines: [100_000, 1_000_000].map((messages) => {
    return { name: String(messages), title: `${whole(messages)} messages`, request: { messages } }
  }),
  cost: (sample) => 1e9 / playedPerSecond(sample),
  costUnit: 'ns/message',
  what: 'recording',
  columns: [
    ['messages/s and core', middle(playedPerSecond, rate)],
    ['min', overall(least, playedPerSecond, rate)],
    ['max', overall(most, playedPerSecond, rate)],
    ['messages/s by the clock', middle(({ messages, wallMs }) => (messages / wallMs) * 1000, rate)],
    ['peak RSS', middle(({ peakRss }) => peakRss, megabytes)],
  ],
})

export const memory = measurement('memory', {
  name: 'memory',
  title: 'Memory: running rules of two sensors, gate, actuator',
  lines: ({ subjects }) => [
    ...[20_000, 100_000].flatMap((rules): LinePlan<'memory'>[] => [
      { name: `same-${rules}`, title: 'reflexarc, one rule on all resources', request: { rules, what: 'same' } },
      {
        name: `different-${rules}`,
        title: 'reflexarc, a separate rule per resource',
        request: { rules, what: 'different' },
      },
    ]),
    ...[CLOSURE, PEER]
      .filter((name) => subjects.includes(name))
      .map((name): LinePlan<'memory'> => {
        const { title, installed = false } = subjectNamed(name)
        return { name, title, request: { rules: 20_000, what: name }, needsPeers: installed }
      }),
  ],
  maxRounds: 3,
  cost: ({ heapPerRule }) => heapPerRule,
  costUnit: 'B/rule',
  what: 'rules',
  columns: [
    ['count', middle(({ rules }) => rules, whole)],
    ['heap per rule', middle(({ heapPerRule }) => heapPerRule, bytes)],
    ['with its document', middle(({ heapWithDocument }) => heapWithDocument, bytes)],
    [
      'CPU per start',
      middle(
        ({ microsPerStart }) => microsPerStart,
        (us) => `${digits(us)} us`,
      ),
    ],
    ['RSS', middle(({ rss }) => rss, megabytes)],
  ],
})

export const fleet = measurement('fleet', {
  name: 'fleet',
  title: 'Fleet: tasks of one template, five nodes each',
  lines: [
    { tasks: 100_000, messages: 0 },
    { tasks: 100_000, messages: 1 },
    { tasks: 100_000, messages: 4 },
    { tasks: 1_000_000, messages: 0 },
  ].map((request) => {
    const { tasks, messages } = request
    const title = `${whole(tasks)} tasks, ${messages === 0 ? 'idle' : `${messages} messages each`}`
    return { name: messages === 0 ? `${tasks}` : `${tasks}-active-${messages}`, title, request }
  }),
  maxRounds: 3,
  cost: ({ tasks, cpuMs }) => (cpuMs * 1000) / tasks,
  costUnit: 'us/start',
  what: 'fleet',
  columns: [
    ['starts/s and core', middle(({ tasks, cpuMs }) => (tasks / cpuMs) * 1000, rate)],
    ['starts/s by the clock', middle(({ tasks, wallMs }) => (tasks / wallMs) * 1000, rate)],
    ['heap per task', middle(({ heapPerTask }) => heapPerTask, bytes)],
    ['RSS', middle(({ rss }) => rss, megabytes)],
  ],
})

const PLACES: Readonly<Record<SlowSensorRequest['place'], string>> = {
  library: 'the library',
  host: 'a host on SQLite',
}
const EVALUATED = 10_000
const AHEAD = '-ahead'
const evaluatedPerSecond = ({ perSecond }: SlowSensorSample): number => perSecond

/** Throughput of one task with a sensor that takes a millisecond, whose latency is the bound. */
export const slowSensor = measurement('slowSensor', {
  name: 'w6',
  title: `W6: one task, 10,000 messages, a sensor that answers after 1 ms; by the clock`,
  lines: (['library', 'host'] as const).flatMap((place): LinePlan<'slowSensor'>[] => [
    { name: place, title: PLACES[place], request: { place, isAhead: false } },
    { name: place + AHEAD, title: `${PLACES[place]}, calls may begin ahead`, request: { place, isAhead: true } },
  ]),
  maxRounds: 3,
  cost: ({ perSecond }) => 1e6 / perSecond,
  costUnit: 'us/message',
  what: 'task',
  columns: [
    ['messages/s', middle(evaluatedPerSecond, rate)],
    ['min', overall(least, evaluatedPerSecond, rate)],
    ['max', overall(most, evaluatedPerSecond, rate)],
    ['the sensor alone', middle(({ limit }) => limit, rate)],
    [
      'share of it',
      middle(
        ({ perSecond, limit }) => perSecond / limit,
        (share) => percent(share, 1),
      ),
    ],
    [
      'x without ahead',
      ({ name, samples }, all) => {
        const plain = all.find((line) => line.name + AHEAD === name && line.failure === undefined)
        if (plain === undefined) return '-'
        return digits(median(samples.map(evaluatedPerSecond)) / median(plain.samples.map(evaluatedPerSecond)))
      },
    ],
    ['lost', overall(most, ({ lost }) => lost)],
    ['waiting at the last post', middle(({ waiting }) => waiting)],
    ['ms that they waited', middle(({ waitedMs }) => waitedMs)],
    ['us of CPU each', middle(({ cpuMs }) => (cpuMs * 1_000) / EVALUATED)],
    [
      'no core',
      middle(
        ({ noCore }) => noCore,
        (share) => percent(share, 1),
      ),
    ],
  ],
})
