/** Repeats small cases in which the engine and the model once differed. */
import { describe, expect, it } from 'vitest'
import type { Rule } from '../../src/core/rule/rule.ts'
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

describe('the engine acts like the model', () => {
  it.each(CASES)('$fact', async ({ rule, script }) => {
    const expected = eventLines(runModel(rule, {}, TEST_PLUGS, script), rule, SCRIPT_START)
    expect(eventLines(await runEngine(rule, script), rule, SCRIPT_START)).toEqual(expected)
  })
})
