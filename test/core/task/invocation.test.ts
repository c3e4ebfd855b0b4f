import { describe, expect, it } from 'vitest'
import { live, promisesSettled } from '../../support/live-engine.ts'
import { gate, is, on, rule, trigger, turns } from '../../support/rule-writing.ts'

describe('an array of messages', () => {
  const two = rule({
    sensors: { a: on('switch'), b: on('switch', { resource: 'q' }), c: on('switch', { resource: 'q' }) },
  })

  it('is one invocation for all of its resources; each sensor sees the message of its own', async () => {
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

  it('is evaluated together: a gate over both resources becomes known in one invocation', async () => {
    const t = await live(
      rule({
        sensors: { a: on('switch'), b: on('switch', { resource: 'q' }) },
        actuators: ['act'],
        relations: [gate('both', 'AND', ['a', 'On'], ['b', 'On'])],
        triggers: [trigger('both', 'act', is('TRUE'))],
      }),
    )
    t.engine.receive([
      { resource: 'q', b: 'On' },
      { resource: 'r', a: 'On' },
    ])
    expect(t.firings().map(({ invocation }) => invocation)).toEqual([1])
  })

  it('honours sequence over its resources', async () => {
    const t = await live(rule({ sensors: { a: on('switch', { sequence: 2 }), b: on('switch', { resource: 'q' }) } }))
    t.engine.receive([{ resource: 'r' }, { resource: 'q' }])
    expect(t.plugs.calls.map(({ node }) => node)).toEqual(['b', 'a'])
  })

  it('begins another invocation where a resource repeats', async () => {
    const t = await live(two)
    t.engine.receive([
      { resource: 'r', v: 1 },
      { resource: 'q', v: 2 },
      { resource: 'r', v: 3 },
    ])
    expect(t.lines('data', 'held')).toEqual(['0 data r', '0 data q', '0 data r'])
    expect(t.plugs.calls.map(({ node, stream }) => [node, stream['v']])).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 2],
      ['a', 3],
    ])
  })

  it('without any resource of the task is nothing', async () => {
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

  it('of a state is an observation: no plug of the node runs, its triggers do', async () => {
    const t = await live(task)
    t.task.push('s', { state: 'On' })
    expect(t.plugs.callsOf('s')).toEqual([])
    expect(t.fired()).toEqual(['0 d', '0 ran', '0 lit'])
    expect(t.task.info().invocationCount).toBe(1)
  })

  it('of raw data alone fires only triggers without a condition', async () => {
    const t = await live(task)
    t.to(7)
    t.task.push('s', { rawData: { v: 1 } })
    expect(t.fired()).toEqual(['7 ran'])
    expect(t.task.node('s')).toMatchObject({ rawData: { v: 1 }, collectedTime: 7, states: { On: 0.5 } })
  })

  it('of both does both in one evaluation', async () => {
    const t = await live(task)
    t.task.push('s', { state: 'On', rawData: { v: 1 } })
    expect(t.fired()).toEqual(['0 d', '0 ran', '0 lit'])
    expect(t.task.node('s')).toMatchObject({ rawData: { v: 1 }, states: { On: 1 } })
  })

  it('resets nothing: the next equal push is no change', async () => {
    const t = await live(task)
    t.task.push('s', { state: 'On' })
    t.task.push('s', { state: 'On' })
    expect(t.fired()).toEqual(['0 d', '0 ran', '0 lit', '0 ran', '0 lit'])
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
    ['an actuator', 'lit', { state: 'On' }, 'NOT_FOUND', 'node lit of task t is no sensor but an actuator'],
  ])('of %s is refused', async (_, node, value, code, text) => {
    const t = await live(task)
    expect(() => t.task.push(node, value)).toThrow(expect.objectContaining({ code }))
    expect(() => t.task.push(node, value)).toThrow(text)
  })

  it('into a stopped task is refused', async () => {
    const t = await live(task)
    await t.engine.stop('t')
    expect(() => t.task.push('s', { state: 'On' })).toThrow(expect.objectContaining({ code: 'WRONG_STATUS' }))
  })
})

describe('a manual run', () => {
  it('runs that one sensor, resets it and what follows, and counts', async () => {
    const t = await live(
      rule({
        sensors: { s: 'switch', other: 'switch' },
        actuators: ['act'],
        triggers: [trigger('s', 'act', turns('*', 'On'))],
      }),
      { script: (plugs) => plugs.say('s', 'On') },
    )
    t.task.run('s')
    t.task.run('s')
    expect(t.plugs.callsOf('other')).toEqual([])
    expect(t.fired()).toEqual(['0 act', '0 act'])
    expect(t.lines('tick', 'data')).toEqual([])
    expect(t.task.info().invocationCount).toBe(2)
  })

  it('of a conditional sensor runs it all the same', async () => {
    const t = await live(rule({ sensors: { s: 'switch', d: 'switch' }, triggers: [trigger('s', 'd')] }))
    t.task.run('d')
    expect(t.plugs.callsOf('d')).toHaveLength(1)
  })

  it('of a sensor at work waits until its plug has answered', async () => {
    const t = await live(rule({ sensors: { s: 'late' } }))
    t.task.run('s')
    t.to(1000)
    t.task.run('s')
    expect(t.plugs.callsOf('s').map(({ now }) => now)).toEqual([0])
    expect(t.task.info()).toMatchObject({ invocationCount: 1, waiting: { inputs: 1, effects: 0, since: 0 } })
    t.to(5000)
    t.plugs.settle('s', 'On')
    await promisesSettled()
    expect(t.plugs.callsOf('s').map(({ now }) => now)).toEqual([0, 1000])
    expect(t.task.info().invocationCount).toBe(2)
    expect(t.lines('held')).toEqual([])
  })

  it('of a sensor that holds back a result runs it anew; the old result never comes', async () => {
    const t = await live(rule({ sensors: { s: 'switch' } }), {
      script: (plugs) => plugs.say('s', { state: 'Off', after: 5000 }, { state: 'On', after: 5000 }),
    })
    t.task.run('s')
    t.to(1000)
    t.task.run('s')
    t.to(60_000)
    expect(t.lines('result', 'held')).toEqual(['6000 result s On'])
  })
})

describe('an invocation that would run no node', () => {
  it('is not counted and does nothing', async () => {
    const t = await live(
      rule({
        sensors: { s: on('switch', { tickTrigger: false, dataTrigger: false }) },
        task: { type: 'periodic', frequency: 1000 },
      }),
    )
    t.to(5000)
    t.send({ v: 1 })
    expect(t.task.info().invocationCount).toBe(0)
    expect(t.lines()).toEqual(['0 started 1'])
  })
})
