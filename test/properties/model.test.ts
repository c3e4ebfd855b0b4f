import { describe, expect, it } from 'vitest'
import type { Rule } from '../../src/core/rule/rule.ts'
import type { ModelEvent } from '../support/model/model-event.ts'
import { runModel } from '../support/model/run-model.ts'
import { type Script, SCRIPT_START } from '../support/model/script.ts'
import { TEST_PLUGS } from '../support/model/test-plugs.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

function run(rule: Rule, script: Script): ModelEvent[] {
  return runModel(rule, {}, TEST_PLUGS, script)
}

/** Seconds at which a node fired. */
function firings(events: readonly ModelEvent[], node: string): number[] {
  return events.flatMap((event) =>
    event.type === 'fired' && event.node === node ? [(event.time - SCRIPT_START) / SECOND] : [],
  )
}

function gateStates(events: readonly ModelEvent[], gate: string): (string | null)[] {
  return events.flatMap((event) => (event.type === 'gate' && event.node === gate ? [event.to] : []))
}

const reading = (at: number, x: number): Script[number] => ({
  at,
  input: { kind: 'data', messages: [{ resource: 'r', x }] },
})

const until = (at: number): Script[number] => ({ at, input: { kind: 'wait' } })

describe('two dice into an AND of sixes', () => {
  const dice = (resetObservations: boolean): Rule => ({
    sensors: [
      { label: 'd1', name: 'dice', properties: { faces: ['SIX', 'SIX'] } },
      { label: 'd2', name: 'dice', properties: { faces: ['ONE', 'SIX'] } },
    ],
    actuators: [
      { label: 'both', name: 'act' },
      { label: 'toTrue', name: 'act' },
      { label: 'toFalse', name: 'act' },
    ],
    relations: [{ label: 'and', type: 'AND', parentLabels: ['d1', 'd2'], combinations: [['SIX', 'SIX']] }],
    triggers: [
      { sourceLabel: 'and', destinationLabel: 'both', statesTrigger: ['TRUE'] },
      { sourceLabel: 'and', destinationLabel: 'toTrue', stateChangeTrigger: { stateFrom: '*', stateTo: 'TRUE' } },
      { sourceLabel: 'and', destinationLabel: 'toFalse', stateChangeTrigger: { stateFrom: '*', stateTo: 'FALSE' } },
    ],
    task: { type: 'periodic', frequency: 10 * SECOND, resetObservations },
  })

  it('is FALSE on the tick with a mismatch and TRUE once on the tick with two sixes', () => {
    const events = run(dice(true), [until(10 * SECOND)])
    expect(gateStates(events, 'and')).toEqual(['FALSE', 'TRUE'])
    expect(firings(events, 'toFalse')).toEqual([0])
    expect(firings(events, 'toTrue')).toEqual([10])
    expect(firings(events, 'both')).toEqual([10])
  })

  it('does not repeat a change without reset when the gate stays as it was', () => {
    const events = run(dice(false), [until(10 * SECOND)])
    expect(firings(events, 'toFalse')).toEqual([0])
    expect(firings(events, 'both')).toEqual([10])
  })
})

describe('an OR that the first of two sensors decides', () => {
  it('fires a level trigger and a change trigger once', () => {
    const rule: Rule = {
      sensors: [
        { label: 'd1', name: 'dice', properties: { faces: ['ONE'] } },
        { label: 'd2', name: 'dice', properties: { faces: ['ONE'] } },
      ],
      actuators: [
        { label: 'level', name: 'act' },
        { label: 'change', name: 'act' },
      ],
      relations: [{ label: 'or', type: 'OR', parentLabels: ['d1', 'd2'], combinations: [['ONE', 'ONE']] }],
      triggers: [
        { sourceLabel: 'or', destinationLabel: 'level', statesTrigger: ['TRUE'] },
        { sourceLabel: 'or', destinationLabel: 'change', stateChangeTrigger: { stateFrom: '*', stateTo: 'TRUE' } },
      ],
      task: { type: 'onetime' },
    }
    const events = run(rule, [])
    expect(firings(events, 'level')).toEqual([0])
    expect(firings(events, 'change')).toEqual([0])
    expect(events.at(-1)).toMatchObject({ type: 'stopped', reason: 'finished' })
  })
})

describe('a ripple counter of three bits', () => {
  const flip = (label: string) => ({ label, name: 'dice', properties: { faces: ['ONE', 'TWO'] } })
  const carry = (sourceLabel: string, destinationLabel: string) => ({
    sourceLabel,
    destinationLabel,
    stateChangeTrigger: { stateFrom: 'TWO', stateTo: 'ONE' },
  })
  const rule = (resetObservations: boolean): Rule => ({
    sensors: [flip('bit1'), flip('bit2'), flip('bit3')],
    triggers: [carry('bit1', 'bit2'), carry('bit2', 'bit3')],
    task: { type: 'periodic', frequency: SECOND, resetObservations },
  })

  it.each([true, false])('carries every second flip, with reset %s', (resetObservations) => {
    const events = run(rule(resetObservations), [until(8 * SECOND)])
    expect(firings(events, 'bit2')).toEqual([2, 4, 6, 8])
  })

  it('carries into the third bit when the second goes back', () => {
    expect(firings(run(rule(false), [until(9 * SECOND)]), 'bit3')).toEqual([6])
  })
})

describe('a stream that stays high for five seconds', () => {
  const rule = (resetObservations: boolean): Rule => ({
    sensors: [
      { label: 'stream', name: 'level', resource: 'r', properties: { key: 'x', limit: 10 } },
      { label: 'delay', name: 'follow', properties: { ms: 5 * SECOND } },
    ],
    actuators: [{ label: 'alarm', name: 'act' }],
    relations: [{ label: 'and', type: 'AND', parentLabels: ['delay', 'stream'], combinations: [['Done', 'High']] }],
    triggers: [
      { sourceLabel: 'stream', destinationLabel: 'delay', stateChangeTrigger: { stateFrom: '*', stateTo: 'High' } },
      { sourceLabel: 'and', destinationLabel: 'alarm', statesTrigger: ['TRUE'] },
    ],
    task: { type: 'reactive', resetObservations },
  })
  const script = [reading(0, 20), reading(3 * SECOND, 21), until(20 * SECOND)]

  it('counts from the last message when observations are reset', () => {
    expect(firings(run(rule(true), script), 'alarm')).toEqual([8])
  })

  it('counts from the first message when they are kept', () => {
    expect(firings(run(rule(false), script), 'alarm')).toEqual([5])
  })
})

describe('an alarm for a stream that falls silent', () => {
  it('comes five seconds after the last message', () => {
    const rule: Rule = {
      sensors: [
        { label: 'stream', name: 'level', resource: 'r', evictionTime: SECOND, properties: { key: 'x' } },
        { label: 'delay', name: 'held', properties: { ms: 5 * SECOND } },
      ],
      actuators: [{ label: 'alarm', name: 'act' }],
      triggers: [
        { sourceLabel: 'stream', destinationLabel: 'delay', stateChangeTrigger: { stateFrom: '*', stateTo: '*' } },
        { sourceLabel: 'delay', destinationLabel: 'alarm' },
      ],
      task: { type: 'reactive', resetObservations: false },
    }
    const script = [reading(0, 1), reading(4 * SECOND, 1), reading(8 * SECOND, 1), until(30 * SECOND)]
    expect(firings(run(rule, script), 'alarm')).toEqual([13])
  })
})

describe('a polled source that fails', () => {
  it('stops counting ten minutes after it was last seen', () => {
    const rule: Rule = {
      sensors: [
        { label: 'stream', name: 'level', resource: 'r', properties: { key: 'x' } },
        {
          label: 'polled',
          name: 'level',
          resource: 'p',
          properties: { key: 'x' },
          pollingPeriod: MINUTE,
          evictionTime: 10 * MINUTE,
          dataTrigger: false,
        },
      ],
      actuators: [{ label: 'alarm', name: 'act' }],
      relations: [
        {
          label: 'any',
          type: 'GENERAL',
          parentLabels: ['stream', 'polled'],
          combinations: [
            ['High', 'Low'],
            ['High', 'High'],
          ],
        },
        { label: 'and', type: 'AND', parentLabels: ['polled', 'any'], combinations: [['High', 'TRUE']] },
      ],
      triggers: [{ sourceLabel: 'and', destinationLabel: 'alarm', statesTrigger: ['TRUE'] }],
      task: { type: 'reactive', resetObservations: false },
    }
    const seen = { at: 30 * SECOND, input: { kind: 'data' as const, messages: [{ resource: 'p', x: 20 }] } }
    const events = run(rule, [seen, reading(10 * MINUTE, 20), reading(11 * MINUTE - 1, 20), reading(11 * MINUTE, 20)])
    expect(firings(events, 'alarm')).toEqual([600, 659.999])
  })
})
