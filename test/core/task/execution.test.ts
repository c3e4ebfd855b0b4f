import { describe, expect, it } from 'vitest'
import { live, promisesSettled } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER } from '../../support/scripted-plugs.ts'

const calls = (t: { plugs: { calls: readonly { node: string; now: number }[] } }) =>
  t.plugs.calls.map(({ node, now }) => `${now} ${node}`)

describe('the sensors of one message', () => {
  it('run by ascending sequence, inside a group as declared', async () => {
    const t = await live(
      rule({
        sensors: {
          a: on('switch', { sequence: 2 }),
          b: on('switch'),
          c: on('switch', { sequence: 0 }),
          d: on('switch'),
        },
      }),
    )
    t.send({})
    expect(calls(t)).toEqual(['0 c', '0 b', '0 d', '0 a'])
  })

  it('of a later group see what the earlier group gave', async () => {
    const t = await live(
      rule({
        sensors: {
          last: on('switch', { sequence: 2, properties: { text: '${nodes.first.state}' } }),
          first: on('switch'),
        },
      }),
    )
    t.send({ first: 'On' })
    expect(t.plugs.callsOf('last')[0]?.properties).toEqual({ text: 'On' })
  })

  it.each([true, false])('are called one after the other when they take their time; parallel: %s', async (parallel) => {
    const t = await live(
      rule({ sensors: { a: on('late'), b: on('late'), c: on('late', { sequence: 2 }) }, task: { parallel } }),
    )
    t.send({})
    expect(calls(t)).toEqual(['0 a'])
    t.plugs.settle('a', 'On')
    await promisesSettled()
    expect(calls(t)).toEqual(['0 a', '0 b'])
    t.plugs.settle('b', 'On')
    await promisesSettled()
    expect(calls(t)).toEqual(['0 a', '0 b', '0 c'])
  })

  it('see what those before them in the group gave, however long that took', async () => {
    const t = await live(
      rule({ sensors: { a: on('late'), b: on('switch', { properties: { text: '${nodes.a.state}' } }) } }),
    )
    t.send({})
    t.to(5000)
    t.plugs.settle('a', 'Off')
    await promisesSettled()
    expect(t.plugs.callsOf('b')[0]?.properties).toEqual({ text: 'Off' })
  })

  it.each([
    ['of the same group is not waited for', true, ['0 a', '0 b']],
    ['is waited for when the task is not parallel: each sensor is a group', false, ['0 a', '3000 b']],
  ])('a result that one of them holds back %s', async (_, parallel, expected) => {
    const t = await live(rule({ sensors: { a: on('switch'), b: on('switch') }, task: { parallel } }), {
      script: (plugs) => plugs.say('a', { state: 'On', after: 3000 }),
    })
    t.send({})
    t.to(10_000)
    expect(calls(t)).toEqual(expected)
  })
})

describe('a group', () => {
  const two = (more: object) => rule({ sensors: { a: on('late', more), b: on('switch', { sequence: 2 }) } })

  it.each([
    ['a result that is held back', {}, { state: 'On', after: 4000 } as const, 4000, 4000],
    ['a time limit', { timeout: 'PT3S' }, LATER, 0, 3000],
    ['an error', {}, new Error('broken'), 0, 0],
    ['the last of its retries', { retryConfig: { maxRetries: 1, minBackoff: 'PT2S' } }, new Error('broken'), 0, 2000],
    ['the end of a pause', { pauseExecution: true, pauseExecutionTimeout: 'PT7S' }, 'On', 7000, 7000],
    ['an answer without a state', {}, { rawData: {} }, 0, 0],
  ] as const)('waits for %s: the time of a wait is its own, work keeps that of its input', async (...row) => {
    const [, more, said, time, clock] = row
    const t = await live(two(more), { script: (plugs) => plugs.say('a', said) })
    t.send({})
    t.to(60_000)
    expect(calls(t).filter((text) => text.endsWith('b'))).toEqual([`${time} b`])
    const results = t.events.filter(({ type, node }) => type === 'result' && node === 'b')
    expect(results.map((event) => [event.time, event.at ?? event.time])).toEqual([[time, clock]])
  })

  it('is called behind the cascades that results of the one before set off', async () => {
    const t = await live(
      rule({
        sensors: { a: on('switch'), b: on('switch', { sequence: 2 }), slow: 'late' },
        triggers: [trigger('a', 'slow')],
      }),
    )
    t.send({})
    expect(calls(t)).toEqual(['0 a', '0 slow'])
    t.to(1000)
    t.plugs.settle('slow', 'On')
    await promisesSettled()
    expect(calls(t)).toEqual(['0 a', '0 slow', '0 b'])
  })

  it('does not wait for a cascade that only waits', async () => {
    const t = await live(
      rule({
        sensors: { a: on('switch'), b: on('switch', { sequence: 2 }), slow: 'switch' },
        triggers: [trigger('a', 'slow')],
      }),
      { script: (plugs) => plugs.say('slow', { state: 'On', after: 9000 }) },
    )
    t.send({})
    expect(calls(t)).toEqual(['0 a', '0 slow', '0 b'])
  })

  it('does not wait for what follows a result', async () => {
    const t = await live(two({}), {
      script: (plugs) => plugs.say('a', { state: 'Off', then: { state: 'On', after: 9000 } }),
    })
    t.send({})
    expect(calls(t)).toEqual(['0 a', '0 b'])
  })

  it('is over before the sensors of a later message are called', async () => {
    const t = await live(two({}))
    t.send({})
    t.to(1000)
    t.send({})
    expect(calls(t)).toEqual(['0 a'])
    t.plugs.settle('a', 'On')
    await promisesSettled()
    expect(calls(t)).toEqual(['0 a', '0 b', '1000 a'])
    t.plugs.settle('a', 'On')
    await promisesSettled()
    expect(calls(t)).toEqual(['0 a', '0 b', '1000 a', '1000 b'])
    expect(t.lines('held')).toEqual([])
  })

  it('counts a sensor that a trigger of the same input runs already as done', async () => {
    const t = await live(
      rule({
        sensors: {
          a: on('switch'),
          b: on('late', { sequence: 2, dataTrigger: true }),
          c: on('switch', { sequence: 3 }),
        },
        triggers: [trigger('a', 'b')],
      }),
    )
    t.send({})
    expect(t.lines('fired', 'held')).toEqual(['0 fired a>b', '0 held b overlap'])
    expect(calls(t)).toEqual(['0 a', '0 b'])
    t.plugs.settle('b', 'On')
    await promisesSettled()
    expect(calls(t)).toEqual(['0 a', '0 b', '0 c'])
  })

  const superseded = rule({
    sensors: {
      start: on('switch', { resource: 'other' }),
      d: on('switch', { dataTrigger: true }),
      b: on('switch', { sequence: 2 }),
    },
    triggers: [trigger('start', 'd')],
  })

  it('is dropped with what was to follow it, when a trigger runs its sensor anew', async () => {
    const t = await live(superseded, { script: (plugs) => plugs.say('d', { state: 'On', after: 60_000 }) })
    t.send({})
    expect(calls(t)).toEqual(['0 d'])
    t.to(1000)
    t.send({}, 'other')
    expect(calls(t)).toEqual(['0 d', '1000 start', '1000 d'])
    expect(t.task.save().state.groups).toBeUndefined()
    t.to(200_000)
    expect(calls(t)).toEqual(['0 d', '1000 start', '1000 d'])
    expect(t.lines('result').filter((text) => text.includes(' d '))).toEqual(['61000 result d On'])
  })

  it('goes on when a trigger of its own invocation runs its sensor anew', async () => {
    const t = await live(
      rule({
        sensors: { d: on('switch', { dataTrigger: true }), e: on('switch'), b: on('switch', { sequence: 2 }) },
        triggers: [trigger('e', 'd')],
      }),
      { script: (plugs) => plugs.say('d', { state: 'On', after: 60_000 }) },
    )
    t.send({})
    expect(calls(t)).toEqual(['0 d', '0 e', '0 d', '0 b'])
  })

  it('is dropped with what was to follow it, when a newer message runs its sensor anew, which goes on with its own', async () => {
    const t = await live(superseded, { script: (plugs) => plugs.say('d', { state: 'On', after: 60_000 }) })
    t.send({})
    t.to(1000)
    t.send({})
    t.to(200_000)
    expect(calls(t)).toEqual(['0 d', '1000 d', '61000 b'])
    expect(t.lines('result', 'held')).toEqual(['61000 result d On', '61000 result b -'])
  })
})

describe('cascades', () => {
  it('are called before the next queued member of a group, first in first out', async () => {
    const t = await live(
      rule({
        sensors: { a: on('switch'), b: on('switch'), x: 'switch', y: 'switch', z: 'switch' },
        triggers: [trigger('a', 'x'), trigger('a', 'y'), trigger('x', 'z')],
      }),
    )
    t.send({})
    expect(calls(t)).toEqual(['0 a', '0 x', '0 y', '0 z', '0 b'])
  })

  it('belong to the invocation that set them off, however late they come', async () => {
    const t = await live(
      rule({
        sensors: { a: on('switch'), d: 'switch' },
        actuators: ['act'],
        triggers: [trigger('a', 'd', is('On')), trigger('d', 'act')],
      }),
      { script: (plugs) => plugs.say('d', { state: 'On', after: 5000 }) },
    )
    t.send({ a: 'On' })
    t.to(1000)
    t.send({ a: 'Off' })
    t.to(5000)
    expect(t.firings().map(({ node, time, invocation }) => [node, time, invocation])).toEqual([
      ['d', 0, 1],
      ['act', 5000, 1],
    ])
  })

  it('know the source whose trigger ran them', async () => {
    const t = await live(rule({ sensors: { a: on('switch') }, actuators: ['act'], triggers: [trigger('a', 'act')] }))
    t.send({})
    expect(t.plugs.calls.map(({ trigger: source }) => source)).toEqual([undefined, 'a'])
  })

  it('of a rule with a chain of 2,000 triggers run to the end', async () => {
    const count = 2000
    const sensors = Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, 'switch']))
    const triggers = Array.from({ length: count - 1 }, (_, i) => trigger(`s${i}`, `s${i + 1}`))
    const t = await live(rule({ sensors, triggers }))
    t.task.push('s0', { state: 'On' })
    expect(t.plugs.calls).toHaveLength(count - 1)
  })
})
