/** Small cases in which it once mattered how long an answer takes. What is done is given here by hand. */
import { describe, expect, it } from 'vitest'
import type { Actuator, Rule, Sensor, Trigger } from '../../src/core/rule/rule.ts'
import { CASE_START, type CaseStep } from '../support/latency/latency-case.ts'
import { runCase } from '../support/latency/run-case.ts'

interface Case {
  fact: string
  rule: Rule
  steps: CaseStep[]
  /** of calls, in their order, in ms */
  latencies: number[]
  /** ms, node and text of each attempt to act */
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

const RETRY = { maxRetries: 1, minBackoff: 'PT1S' }
const KEEP = { type: 'reactive', resource: 'r', resetObservations: false } as const

const CASES: Case[] = [
  {
    fact: 'a message waits for the answer to the one before, however fast its own comes',
    rule: {
      sensors: [sensor('s', 'compare')],
      actuators: [act('act', '${nodes.s.rawData.v}')],
      triggers: [on('s', 'act')],
      task: KEEP,
    },
    steps: [data(0, { a: 1 }), data(10, { a: 2 }), data(20, { a: 3 })],
    latencies: [500, 0, 100, 0, 0],
    done: ['0 act 1', '10 act 2', '20 act 3'],
  },
  {
    fact: 'a message waits for the retries of the one before',
    rule: {
      sensors: [sensor('s', 'compare', { fails: [1, 0] }, { retryConfig: RETRY })],
      actuators: [act('act', '${nodes.s.rawData.v}')],
      triggers: [on('s', 'act')],
      task: KEEP,
    },
    steps: [data(0, { a: 1 }), data(10, { a: 2 })],
    latencies: [5],
    done: ['0 act 1', '10 act 2'],
  },
  {
    fact: 'a gate is decided once both sensors of a message have answered',
    rule: {
      sensors: [sensor('p', 'compare'), sensor('q', 'compare', { key: 'b' })],
      relations: [{ label: 'g', type: 'GENERAL', parentLabels: ['p', 'q'], combinations: [['High', 'Low']] }],
      actuators: [act('act', 'passed through')],
      triggers: [on('g', 'act', 'TRUE')],
      task: KEEP,
    },
    steps: [data(0, { a: 1, b: 1 }), data(1000, { a: 99, b: 99 }), data(2000, { a: 99, b: 1 })],
    latencies: [200, 10],
    done: ['2000 act passed through'],
  },
  {
    fact: 'what a trigger runs comes after the root sensors of its stage, and sees them',
    rule: {
      sensors: [
        sensor('p', 'compare'),
        sensor('q', 'compare', { other: '${?nodes.p.rawData.v}' }),
        sensor('k', 'compare', { other: '${?nodes.q.rawData.v}' }),
      ],
      actuators: [act('act', 'p ${nodes.p.rawData.v} q ${?nodes.q.rawData.v}')],
      triggers: [on('p', 'k'), on('k', 'act')],
      task: KEEP,
    },
    steps: [data(0, { a: 7 })],
    latencies: [50, 300, 10],
    done: ['0 act p 7 q 7'],
  },
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
    fact: 'a root sensor that holds its result back begins anew with the next message',
    rule: {
      sensors: [sensor('s', 'delay', { wait: 500 })],
      actuators: [act('act', '${nodes.s.rawData.v}')],
      triggers: [on('s', 'act')],
      task: KEEP,
    },
    steps: [data(0, { a: 1 }), data(400, { a: 2 }), data(1000, { a: 3 })],
    latencies: [300],
    done: ['900 act 2', '1500 act 3'],
  },
  {
    fact: 'a later stage does not wait for a result that is held back',
    rule: {
      sensors: [sensor('s', 'delay', { wait: 500 }, { sequence: 1 }), sensor('after', 'compare', {}, { sequence: 2 })],
      actuators: [act('act', '${streamdata.a}')],
      triggers: [on('after', 'act')],
      task: KEEP,
    },
    steps: [data(0, { a: 1 }), data(400, { a: 2 })],
    latencies: [300, 20],
    done: ['0 act 1', '400 act 2'],
  },
  {
    fact: 'a destination of two sensors of a message runs once, after both have answered',
    rule: {
      sensors: [sensor('p', 'compare'), sensor('q', 'compare'), sensor('k', 'window')],
      actuators: [act('act', '${nodes.k.rawData.v}')],
      triggers: [on('p', 'k'), on('q', 'k'), on('k', 'act')],
      task: KEEP,
    },
    steps: [data(0, { a: 10 })],
    latencies: [0, 100, 0],
    done: ['0 act 10'],
  },
  {
    fact: 'an actuator says what it fired with, at each attempt, whatever came meanwhile',
    rule: {
      sensors: [sensor('s', 'compare')],
      actuators: [act('act', '${streamdata.a}', { retryConfig: RETRY, properties: { fails: [1] } })],
      triggers: [on('s', 'act', 'High')],
      task: KEEP,
    },
    steps: [data(0, { a: 99 }), data(100, { a: 20 }), data(200, { a: 77 })],
    latencies: [0],
    done: ['0 act 99', '0 act 99', '200 act 77', '200 act 77'],
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

describe('how long answers take', () => {
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

/** Node, time and text of an attempt as `SlowPlugs` writes it down. */
function shown(line: string): string {
  const [node, , time, , , { text }] = JSON.parse(line) as [string, unknown, number, string, number, { text: string }]
  return `${time - CASE_START} ${node} ${text}`
}
