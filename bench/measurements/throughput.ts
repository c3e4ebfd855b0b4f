/** Events per second and core of the workloads. */
import { spawnSync } from 'node:child_process'
import { messageOf } from '../../src/kernel/errors.ts'
import { buildEkuiper } from '../ekuiper/ekuiper.ts'
import { digits, median, percent, rate } from '../figures.ts'
import {
  type Cell,
  least,
  type LinePlan,
  measurement,
  type Measurement,
  middle,
  most,
  overall,
  type Scope,
} from '../measurement.ts'
import type { ThroughputSample } from '../subject.ts'
import { CLOSURE, OWN, PEER, subjects } from '../subjects/index.ts'
import type { WorkloadName } from '../workloads.ts'

/** distant peers need few samples */
const PEER_ROUNDS = 3

const TITLES: Readonly<Record<WorkloadName, string>> = {
  w1: 'W1: 100 rules, one per resource, same limits',
  w1d: 'W1d: 10,000 rules, one per resource, different limits',
  w2: 'W2: 1,000 rules on one resource, different limits',
  w3: 'W3: as W1, only when it becomes true, at most once per 10 virtual seconds',
  w4: 'W4: one chain of ten sensors',
  w5: 'W5: as W1, sensors answer on the next turn of the loop',
  w7: 'W7: 16 rules as in W1, each calls two actuators on one thing; one answers on the next turn of the loop',
}
const NEAR: readonly WorkloadName[] = ['w5', 'w7']

const WORKLOADS = Object.keys(TITLES) as WorkloadName[]

export const throughput: readonly Measurement[] = WORKLOADS.map((workload) =>
  measurement('throughput', {
    name: workload,
    title: TITLES[workload],
    costUnit: 'ns/event',
    cost: nanosPerEvent,
    lines: (scope) => lines(scope, workload),
    what: 'subject',
    columns: [
      ['events/s and core', middle(perSecond, rate)],
      ['min', overall(least, perSecond, rate)],
      ['max', overall(most, perSecond, rate)],
      ['ns/event', middle((sample) => 1e9 / perSecond(sample))],
      ['of the closure', beside(CLOSURE, percent)],
      [`x ${PEER}`, beside(PEER, (own, peer) => digits(own / peer))],
    ],
  }),
)

function lines({ subjects: selected, measureMs }: Scope, workload: WorkloadName): readonly LinePlan<'throughput'>[] {
  return subjects
    .filter(({ name }) => selected.includes(name) && (!NEAR.includes(workload) || name === CLOSURE || name === OWN))
    .filter(({ title, needs }) => needs === undefined || isThere(needs, title))
    .map(({ name, title, role, installed = false }) => {
      const peer = role === 'peer'
      return {
        name,
        title,
        request: { workload, subject: name, measureMs: peer ? measureMs / 2 : measureMs },
        needsPeers: installed,
        ...(peer && { maxRounds: PEER_ROUNDS }),
      }
    })
}

export function nanosPerEvent({ events, cpuMs }: { events: number; cpuMs: number }): number {
  return (cpuMs * 1e6) / events
}

function perSecond({ events, cpuMs }: ThroughputSample): number {
  return (events / cpuMs) * 1000
}

/** Compares medians of two lines of the run; `-` when the other is not measured. */
function beside(other: string, show: (own: number, other: number) => string): Cell<ThroughputSample> {
  return ({ samples }, all) => {
    const found = all.find(({ name, failure }) => name === other && failure === undefined)
    if (found === undefined) return '-'
    return show(median(samples.map(perSecond)), median(found.samples.map(perSecond)))
  }
}

/** Throws when the tools are missing or fail to build the peer. */
const NEEDS = {
  java: () => expectTools(['javac', 'mvn'], '-version'),
  ekuiper() {
    expectTools(['go'], 'version')
    buildEkuiper()
  },
} as const

const known = new Map<string, boolean>()

/** Reports a skipped peer once. */
function isThere(need: keyof typeof NEEDS, peer: string): boolean {
  const before = known.get(need)
  if (before !== undefined) return before
  try {
    NEEDS[need]()
    known.set(need, true)
  } catch (error) {
    process.stderr.write(`bench: ${peer} is skipped: ${messageOf(error)}\n`)
    known.set(need, false)
  }
  return known.get(need) === true
}

/** `versionFlag`: option that prints the version */
function expectTools(tools: readonly string[], versionFlag: string): void {
  const missing = tools.filter((tool) => spawnSync(tool, [versionFlag], { stdio: 'ignore' }).status !== 0)
  if (missing.length > 0) throw new Error(`${missing.join(' and ')} not found`)
}
