/** Events per second and core: the workloads, and the ways in which events can come in. */
import { digits, median, percent, rate } from '../figures.ts'
import { measurement, type Line, type LinePlan, type Measurement, type Row, type Scope } from '../measurement.ts'
import type { Feed } from '../samples/throughput.ts'
import type { ThroughputSample } from '../subject.ts'
import { isThere } from '../machine-tools.ts'
import { CLOSURE, OWN, PEER, subjects } from '../subjects/index.ts'

/** More samples of who is far away say nothing new. */
const PEER_ROUNDS = 3

interface Plan {
  name: string
  title: string
  workload: string
  feed?: Feed
  flags?: readonly string[]
  /** of the subjects that were asked for */
  among?: readonly string[]
}

/** A run without the right to make code out of text, as in pages and processes with a strict policy. */
const NO_CODE = ['--disallow-code-generation-from-strings']
const NEAR = [CLOSURE, OWN]

export const throughput: readonly Measurement[] = [
  define({ name: 'w1', title: 'W1: 100 rules, one per resource, same limits', workload: 'w1' }),
  define({ name: 'w1d', title: 'W1d: 10,000 rules, one per resource, different limits', workload: 'w1d' }),
  define({ name: 'w2', title: 'W2: 1,000 rules on one resource, different limits', workload: 'w2' }),
  define({
    name: 'w3',
    title: 'W3: as W1, only when it becomes true, at most once per 10 virtual seconds',
    workload: 'w3',
  }),
  define({ name: 'w4', title: 'W4: one chain of ten sensors', workload: 'w4' }),
  define({
    name: 'w5',
    title: 'W5: as W1, sensors answer on the next turn of the loop',
    workload: 'w5',
    among: NEAR,
  }),
  define({
    name: 'w7',
    title: 'W7: 16 rules as in W1, each calls two actuators on one thing; one answers on the next turn of the loop',
    workload: 'w7',
    among: NEAR,
  }),
  define({
    name: 'text',
    title: 'W1 from JSON text, parsed one by one',
    workload: 'w1',
    feed: 'text',
    among: [...NEAR, PEER],
  }),
  define({
    name: 'awaited',
    title: 'W1 through a call that is awaited each time',
    workload: 'w1',
    feed: 'awaited',
    among: NEAR,
  }),
  ...['w1', 'w1d', 'w2', 'w3', 'w4'].map((workload) =>
    define({
      name: `${workload}-no-codegen`,
      title: `${workload.replace('w', 'W')} where no code may be made out of text`,
      workload,
      flags: NO_CODE,
      among: NEAR,
    }),
  ),
]

function define({ name, title, workload, feed = 'object', flags = [], among }: Plan): Measurement {
  return measurement<'throughput'>({
    name,
    title,
    costUnit: 'ns/event',
    cost: nanosPerEvent,
    lines: (scope) => lines(scope, { workload, feed, flags, among }),
    head: ['subject', 'events/s and core', 'min', 'max', 'ns/event', 'of the closure', `x ${PEER}`],
    cells,
  })
}

function lines(
  { subjects: asked, measureMs }: Scope,
  {
    workload,
    feed,
    flags,
    among,
  }: { workload: string; feed: Feed; flags: readonly string[]; among?: readonly string[] | undefined },
): readonly LinePlan<'throughput'>[] {
  return subjects
    .filter(({ name, skips }) => asked.includes(name) && !skips?.includes(workload) && among?.includes(name) !== false)
    .filter(({ title, needs }) => needs === undefined || isThere(needs, title))
    .map(({ name, title, role, installed = false }) => {
      const peer = role === 'peer'
      return {
        name,
        title,
        request: { kind: 'throughput', workload, subject: name, feed, measureMs: peer ? measureMs / 2 : measureMs },
        flags,
        needsPeers: installed,
        ...(peer && { maxRounds: PEER_ROUNDS }),
      }
    })
}

export function nanosPerEvent({ events, cpuMs }: { events: number; cpuMs: number }): number {
  return (cpuMs * 1e6) / events
}

function rates({ samples }: Line<ThroughputSample>): readonly number[] {
  return samples.map(({ events, cpuMs }) => (events / cpuMs) * 1000)
}

function cells(line: Line<ThroughputSample>, all: readonly Line<ThroughputSample>[]): Row {
  const medianOf = (name: string) => {
    const other = all.find((candidate) => candidate.name === name && candidate.failure === undefined)
    return other === undefined ? undefined : median(rates(other))
  }
  const values = rates(line)
  const middle = median(values)
  const peer = medianOf(PEER)
  return [
    rate(middle),
    rate(Math.min(...values)),
    rate(Math.max(...values)),
    digits(1e9 / middle),
    percent(middle, medianOf(CLOSURE)),
    peer === undefined ? '-' : digits(middle / peer),
  ]
}
