import { describe, expect, it } from 'vitest'
import { live } from '../../support/live-engine.ts'
import { is, on, rule, trigger, turns } from '../../support/rule-writing.ts'

describe('an array of messages', () => {
  const two = rule({
    sensors: { a: on('switch'), b: on('switch', { resource: 'q' }), c: on('switch', { resource: 'q' }) },
  })

  it('is one invocation for all its resources; each sensor sees the message of its own resource', async () => {
    const t = await live(two)
    t.engine.receive([
      { resource: 'r', v: 1 },
      { resource: 'q', v: 2 },
      { resource: 'elsewhere', v: 3 },
    ])
    expect(t.lines('data')).toEqual(['0 data r', '0 data q'])
    expect(t.task.info().invocationCount).toBe(1)
    expect(t.plugs.calls.map(({ node, stream }) => [node, stream['v']])).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 2],
    ])
  })

  it('without a resource of the task has no effect', async () => {
    const t = await live(two)
    expect(t.engine.receive([{ resource: 'x' }])).toBe(false)
    expect(t.engine.receive([])).toBe(false)
    expect(t.task.info().invocationCount).toBe(0)
  })
})

describe('a push', () => {
  const task = rule({
    sensors: { s: 'switch', d: 'switch' },
    actuators: ['ran', 'lit'],
    triggers: [trigger('s', 'd', turns('*', 'On')), trigger('s', 'ran'), trigger('s', 'lit', is('On'))],
  })

  it.each([
    [
      'a state that the node does not have',
      's',
      { state: 'Dim' },
      'INVALID_STATE',
      'State Dim is invalid for node s on task t; it can be Off, On',
    ],
    ['an unknown node', 'x', { state: 'On' }, 'NOT_FOUND', 'task t has no node x; it has s, d, ran, lit'],
    ['an actuator', 'lit', { state: 'On' }, 'NOT_FOUND', 'node lit of task t is an actuator, not a sensor'],
  ])('of %s is rejected', async (_, node, value, code, text) => {
    const t = await live(task)
    expect(() => t.task.push(node, value)).toThrow(expect.objectContaining({ code }))
    expect(() => t.task.push(node, value)).toThrow(text)
  })

  it('into a stopped task is rejected', async () => {
    const t = await live(task)
    await t.engine.stop('t')
    expect(() => t.task.push('s', { state: 'On' })).toThrow(expect.objectContaining({ code: 'WRONG_STATUS' }))
  })
})
