import { describe, expect, it } from 'vitest'
import type { Trigger } from '../../../src/core/rule/rule.ts'
import { live } from '../../support/live-engine.ts'
import { gate, is, on, rule, trigger, turns } from '../../support/rule-writing.ts'

const NAMES: Readonly<Record<string, string>> = { A: 'Above', I: 'In', B: 'Below' }

/**
 * Runs steps against one trigger: A, I and B are messages that make the sensor Above, In, Below; x waits until the
 * observation is evicted. Gives the number of firings per step.
 */
async function firings(
  condition: Partial<Trigger>,
  steps: string,
  options: { reset?: boolean; source?: 's' | 'high' } = {},
): Promise<string> {
  const { reset = false, source = 's' } = options
  const t = await live(
    rule({
      sensors: { s: on('band', { evictionTime: 1000 }) },
      actuators: ['act'],
      relations: [gate('high', 'OR', ['s', 'Above'])],
      triggers: [trigger(source, 'act', condition)],
      task: { resetObservations: reset },
    }),
  )
  let time = 0
  const counts: number[] = []
  for (const step of steps) {
    t.clear()
    time += step === 'x' ? 2000 : 100
    t.to(time)
    if (step !== 'x') t.send({ s: NAMES[step] })
    counts.push(t.fired().length)
  }
  return counts.join('')
}

describe('a trigger on a sensor whose observations are kept', () => {
  it.each<[string, Partial<Trigger>, string, string]>([
    ['states: fires at every observation of one', is('Above'), 'AIAA', '1011'],
    ['several states', is('Above', 'Below'), 'AIBI', '1010'],
    ['A to B: only from A, never from unknown', turns('In', 'Above'), 'AIAAIBA', '0010000'],
    ['* to B: the first observation counts as a change', turns('*', 'Above'), 'AAIA', '1001'],
    ['A to *: any other state after A', turns('In', '*'), 'IIABIB', '001001'],
    ['* to *: every change', turns('*', '*'), 'IIAAB', '10101'],
    ['A to A: an observation that repeats A', turns('In', 'In'), 'IIAI', '0100'],
    ['no condition: every execution', {}, 'AAI', '111'],
    ['empty conditions are none', { ...is(), ...turns('', '') }, 'AAI', '111'],
    ['both: either is enough', { ...is('In'), ...turns('*', 'Above') }, 'IIAAB', '11100'],
    ['both at once: one firing', { ...is('Above'), ...turns('*', 'Above') }, 'AA', '11'],
  ])('%s', async (_, condition, steps, expected) => {
    expect(await firings(condition, steps)).toBe(expected)
  })
})

describe('a trigger on a sensor that is reset by each message', () => {
  it.each<[string, Partial<Trigger>, string, string]>([
    ['* to B fires at every B', turns('*', 'Above'), 'AAIA', '1101'],
    ['* to * fires always', turns('*', '*'), 'IIA', '111'],
    ['A to B sees through the reset', turns('In', 'Above'), 'IAAIA', '01001'],
    ['A to * sees through the reset', turns('In', '*'), 'IIAB', '0010'],
    ['states as ever', is('Above'), 'AIA', '101'],
  ])('%s', async (_, condition, steps, expected) => {
    expect(await firings(condition, steps, { reset: true })).toBe(expected)
  })
})

describe('after an eviction', () => {
  it.each<[string, Partial<Trigger>, string, string, boolean]>([
    ['A to B has nothing to compare with', turns('In', 'Above'), 'IxA', '000', false],
    ['A to B neither with reset', turns('In', 'Above'), 'IxA', '000', true],
    ['A to * neither', turns('In', '*'), 'IxA', '000', false],
    ['* to B sees a change', turns('*', 'Above'), 'AAxA', '1001', false],
    ['the eviction itself fires nothing', {}, 'Ax', '10', false],
    ['A to B works again from the next state on', turns('In', 'Above'), 'xIA', '001', false],
  ])('%s', async (_, condition, steps, expected, reset) => {
    expect(await firings(condition, steps, { reset })).toBe(expected)
  })
})

describe('a trigger on a gate', () => {
  it.each<[string, Partial<Trigger>, string, string, boolean]>([
    ['states: at every evaluation', is('TRUE'), 'AAIA', '1101', false],
    ['no condition: at every evaluation that is certain', {}, 'AAI', '111', false],
    ['* to TRUE: only when it becomes TRUE', turns('*', 'TRUE'), 'AAIA', '1001', false],
    ['FALSE to TRUE sees through the reset', turns('FALSE', 'TRUE'), 'IAAIA', '01001', true],
    ['* to TRUE: at every evaluation after a reset', turns('*', 'TRUE'), 'AA', '11', true],
    [
      'FALSE to TRUE is forgotten by an eviction that makes the gate unknown',
      turns('FALSE', 'TRUE'),
      'IxA',
      '000',
      false,
    ],
  ])('%s', async (_, condition, steps, expected, reset) => {
    expect(await firings(condition, steps, { reset, source: 'high' })).toBe(expected)
  })

  it('does not hold while the gate is unknown, not even without a condition', async () => {
    const t = await live(
      rule({
        sensors: { a: 'switch', b: 'switch' },
        actuators: ['act'],
        relations: [gate('both', 'AND', ['a', 'On'], ['b', 'On'])],
        triggers: [trigger('both', 'act')],
      }),
    )
    t.task.push('a', { state: 'On' })
    expect(t.fired()).toEqual([])
    t.task.push('b', { state: 'Off' })
    expect(t.fired()).toEqual(['0 act'])
  })

  it('keeps its memory through an eviction that leaves it certain', async () => {
    const t = await live(
      rule({
        sensors: { a: { name: 'switch', evictionTime: 1000 }, b: 'switch' },
        actuators: ['act'],
        relations: [gate('both', 'AND', ['a', 'On'], ['b', 'On'])],
        triggers: [trigger('both', 'act', turns('FALSE', 'TRUE'))],
      }),
    )
    t.task.push('a', { state: 'Off' })
    t.task.push('b', { state: 'Off' })
    t.to(5000)
    t.task.push('a', { state: 'On' })
    t.task.push('b', { state: 'On' })
    expect(t.fired()).toEqual(['5000 act'])
  })
})
