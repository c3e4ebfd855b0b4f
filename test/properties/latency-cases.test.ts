/** Repeats small cases in which latency once mattered, with the expected actions written by hand. */
import { describe, expect, it } from 'vitest'
import type { Actuator, Rule, Sensor, Trigger } from '../../src/core/rule/rule.ts'
import { CASE_START, type CaseStep } from '../support/latency/latency-case.ts'
import { runCase } from '../support/latency/run-case.ts'

interface Case {
  fact: string
  rule: Rule
  steps: CaseStep[]
  /** ms per call, in order */
  latencies: number[]
  /** time, node and text of each attempt to act */
  done: string[]
}

const data = (at: number, values: Record<string, number>): CaseStep => ({
  at,
  input: { kind: 'data', messages: [{ resource: 'r', timestamp: CASE_START + at, ...values }] },
})

function sensor(
  label: string,
  name: string,
  properties: Record<string, unknown> = {},
  more: Partial<Sensor> = {},
): Sensor {
  return { label, name, resource: 'r', properties: { key: 'a', limit: 50, ...properties }, ...more }
}

const act = (label: string, text: string, more: Partial<Actuator> = {}): Actuator => ({
  label,
  name: 'act',
  ...more,
  properties: { text, ...more.properties },
})

const on = (sourceLabel: string, destinationLabel: string, ...statesTrigger: string[]): Trigger => ({
  sourceLabel,
  destinationLabel,
  ...(statesTrigger.length > 0 && { statesTrigger }),
})
const KEEP = { type: 'reactive', resource: 'r', resetObservations: false } as const

const CASES: Case[] = [
  {
    fact: 'an observation is not forgotten before its time though answers are late',
    rule: {
      sensors: [sensor('p', 'compare', {}, { evictionTime: 1000 }), sensor('q', 'compare', { key: 'b' })],
      relations: [{ label: 'g', type: 'AND', parentLabels: ['p', 'q'], combinations: [['High', 'High']] }],
      actuators: [act('act', 'both')],
      triggers: [on('g', 'act', 'TRUE')],
      task: KEEP,
    },
    steps: [data(0, { a: 99, b: 1 }), data(900, { a: 99, b: 99 })],
    latencies: [10, 1500],
    done: ['900 act both'],
  },
  {
    fact: 'a result that is held back comes at its time among the messages that wait',
    rule: {
      sensors: [sensor('s', 'hold', { wait: 500 }), sensor('slow', 'compare', { key: 'b' })],
      actuators: [act('act', '${nodes.slow.rawData.v}')],
      triggers: [on('s', 'act', 'High')],
      task: { ...KEEP },
    },
    steps: [
      data(0, { a: 99, b: 1 }),
      data(499, { a: 1, b: 2 }),
      data(1000, { a: 99, b: 3 }),
      data(1600, { a: 1, b: 4 }),
    ],
    latencies: [10, 2000],
    done: ['1500 act 3'],
  },
  {
    fact: 'ticks wait for their turn, and are not missed because answers are late',
    rule: {
      sensors: [
        sensor('s', 'compare', {}, { tickTrigger: false }),
        { label: 't', name: 'window', properties: { key: 'a', limit: 0 }, resource: 'r', dataTrigger: false },
      ],
      actuators: [act('act', '${nodes.s.rawData.v} ${nodes.t.rawData.v}')],
      triggers: [on('t', 'act')],
      task: { resource: 'r', type: 'scheduled', rrule: 'FREQ=SECONDLY;INTERVAL=2;COUNT=3', resetObservations: false },
    },
    steps: [data(1000, { a: 1 }), data(3000, { a: 2 })],
    latencies: [40_000],
    done: ['2000 act 1 1', '4000 act 2 3'],
  },
  {
    fact: 'what follows a result at once comes before the next message, also in an array',
    rule: {
      sensors: [sensor('s', 'hold', { wait: 0 })],
      actuators: [act('act', '${nodes.s.rawData.v}')],
      triggers: [on('s', 'act', 'High')],
      task: KEEP,
    },
    steps: [{ at: 0, input: { kind: 'data', messages: [99, 1].map((a) => ({ resource: 'r', a })) } }],
    latencies: [100],
    done: ['0 act 99'],
  },
  {
    fact: 'a onetime task takes nothing that came while it was at work',
    rule: {
      sensors: [sensor('s', 'compare')],
      actuators: [act('act', '${nodes.s.rawData.v}')],
      triggers: [on('s', 'act')],
      task: { ...KEEP, type: 'onetime' },
    },
    steps: [data(10, { a: 1 })],
    latencies: [100, 0],
    done: ['0 act 0'],
  },
]

describe('the duration of calls', () => {
  it.each(CASES)('does not matter: $fact', async ({ rule, steps, latencies, done }) => {
    const doneBy = async (run: ReturnType<typeof runCase>): Promise<string[]> => {
      const { attempts, broken } = await run
      expect(broken).toEqual([])
      return Object.values(attempts).flatMap((lines) => lines.map(shown))
    }
    expect(await doneBy(runCase({ rule, steps }, () => 'at once'))).toEqual(done)
    expect(await doneBy(runCase({ rule, steps }, (clock) => ({ clock, latencies })))).toEqual(done)
  })
})

/** Returns node, time and text of an attempt recorded by `SlowPlugs`. */
function shown(line: string): string {
  const [node, , time, , , { text }] = JSON.parse(line) as [string, unknown, number, string, number, { text: string }]
  return `${time - CASE_START} ${node} ${text}`
}
