/** Small cases in which the engine and the model once differed. */
import { describe, expect, it } from 'vitest'
import type { PlugContext } from '../../src/core/plug/plug.ts'
import type { Rule } from '../../src/core/rule/rule.ts'
import { createEngine, definePlug, VirtualClock } from '../../src/index.ts'
import { eventLines } from '../support/model/model-event.ts'
import { runEngine } from '../support/model/run-engine.ts'
import { runModel } from '../support/model/run-model.ts'
import { type Script, SCRIPT_START } from '../support/model/script.ts'
import { TEST_PLUGS } from '../support/model/test-plugs.ts'

interface Case {
  fact: string
  rule: Rule
  script: Script
}

const data = (at: number, ...values: number[]): Script[number] => ({
  at,
  input: { kind: 'data', messages: values.map((x) => ({ resource: 'r1', x })) },
})
const wait = (at: number): Script[number] => ({ at, input: { kind: 'wait' } })
const level = { name: 'level', properties: { key: 'x', limit: 5 } }

const CASES: Case[] = [
  {
    fact: 'both messages of one resource in an array are seen, each by an invocation of its own',
    rule: { sensors: [{ ...level, label: 's0', resource: 'r1' }], task: { type: 'reactive' } },
    script: [data(0, 1, 20)],
  },
  {
    fact: 'a node whose pause ran out is not run by its retry: it waits for a resume again',
    rule: {
      sensors: [
        {
          ...level,
          label: 's0',
          resource: 'r1',
          pauseExecution: true,
          pauseExecutionTimeout: 'PT9S',
          retryConfig: { maxRetries: 1, minBackoff: 'PT1S' },
        },
      ],
      task: { type: 'reactive' },
    },
    script: [data(0, 20), wait(15_000), { at: 15_000, input: { kind: 'resume', node: 's0' } }, wait(30_000)],
  },
  {
    fact: 'of results that are due together the sensor declared first acts first, whichever began first',
    rule: {
      sensors: [
        { label: 's0', name: 'held', resource: 'r1', properties: { ms: 1000 } },
        { label: 's1', name: 'held', resource: 'r2', properties: { ms: 2000 } },
      ],
      task: { type: 'reactive' },
    },
    script: [
      { at: 0, input: { kind: 'data', messages: [{ resource: 'r2' }] } },
      { at: 1000, input: { kind: 'data', messages: [{ resource: 'r1' }] } },
      wait(2000),
    ],
  },
  {
    fact: 'a destination at work is held for overlap, also when no more may be in flight',
    rule: {
      sensors: [
        { ...level, label: 's0', resource: 'r1' },
        { ...level, label: 's1', resource: 'r1', dataTrigger: true },
      ],
      triggers: [{ sourceLabel: 's0', destinationLabel: 's1' }],
      task: { type: 'reactive' },
    },
    script: [data(0, 1)],
  },
  {
    fact: 'a held-back result is superseded also when no more may be in flight: the new execution takes its place',
    rule: {
      sensors: [
        { ...level, label: 's0', resource: 'r1' },
        { label: 's1', name: 'held', properties: { ms: 3000 } },
        { ...level, label: 's2', resource: 'r1' },
      ],
      triggers: [{ sourceLabel: 's0', destinationLabel: 's1' }],
      task: { type: 'reactive' },
    },
    script: [{ at: 0, input: { kind: 'push', node: 's0', state: 'Low' } }, data(1000, 1), wait(9000)],
  },
  {
    fact: 'a value that the last message did not repeat is gone at exactly a minute, as the last message is',
    rule: {
      sensors: [
        { ...level, label: 's0', resource: 'r1', dataTrigger: false },
        { name: 'level', properties: { key: 'y' }, label: 's1', resource: 'r1', dataTrigger: false },
      ],
      task: { type: 'reactive' },
    },
    script: [
      { at: 0, input: { kind: 'data', messages: [{ resource: 'r1', x: 1, y: 1 }] } },
      { at: 10_000, input: { kind: 'data', messages: [{ resource: 'r1', x: 2 }] } },
      ...[59_999, 60_000, 69_999, 70_000].flatMap((at): Script => [
        { at, input: { kind: 'run', node: 's0' } },
        { at, input: { kind: 'run', node: 's1' } },
      ]),
    ],
  },
  {
    fact: 'a gate that is TRUE whatever its parents are becomes so with the first observation, and says it',
    rule: {
      sensors: [{ ...level, label: 's0', resource: 'r1' }],
      relations: [{ label: 'g0', type: 'GENERAL', parentLabels: ['s0'], combinations: [['Low'], ['High']] }],
      task: { type: 'reactive' },
    },
    script: [data(0, 1), data(1000, 20)],
  },
  {
    fact: 'a onetime task takes nothing more while it waits for its actuator, not even ticks of its sensors',
    rule: {
      sensors: [
        {
          ...level,
          label: 's0',
          resource: 'r1',
          pollingPeriod: 2000,
          retryConfig: { maxRetries: 0, errorState: 'Low' },
        },
      ],
      actuators: [{ label: 'a0', name: 'laterAct' }],
      triggers: [{ sourceLabel: 's0', destinationLabel: 'a0', statesTrigger: ['Low'] }],
      task: { type: 'onetime' },
    },
    script: [data(3000, 1), wait(9000), { at: 9000, input: { kind: 'settle', node: 'a0', state: 'Low' } }],
  },
]

describe('the engine does what the model says', () => {
  it.each(CASES)('$fact', async ({ rule, script }) => {
    const expected = eventLines(runModel(rule, {}, TEST_PLUGS, script), rule, SCRIPT_START)
    expect(eventLines(await runEngine(rule, script), rule, SCRIPT_START)).toEqual(expected)
  })
})

describe('the signal of a call', () => {
  it('is aborted after the time limit, also when the plug asks for it only then', async () => {
    const clock = new VirtualClock(SCRIPT_START)
    const contexts: PlugContext[] = []
    const never = new Promise<undefined>(() => undefined)
    const slow = definePlug({
      name: 'slow',
      version: '1.0.0',
      kind: 'sensor',
      states: ['Done'],
      execute: (context) => {
        contexts.push(context)
        return never
      },
    })
    const engine = createEngine({ plugs: [slow], scheduler: clock, ids: () => 't', seed: 1 })
    await engine.start({ sensors: [{ label: 's0', name: 'slow', timeout: 'PT1S' }], task: { type: 'onetime' } })
    clock.advanceTo(SCRIPT_START + 2000)
    expect(contexts.map((context) => context.signal.aborted)).toEqual([true])
  })
})
