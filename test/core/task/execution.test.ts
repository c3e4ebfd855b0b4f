import { describe, expect, it } from 'vitest'
import { live, promisesSettled } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER } from '../../support/scripted-plugs.ts'

const calls = (t: { plugs: { calls: readonly { node: string; now: number }[] } }) =>
  t.plugs.calls.map(({ node, now }) => `${now} ${node}`)

describe('the sensors of one message', () => {
  it('run by ascending sequence, inside a stage as declared', async () => {
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

  it('of a later stage see the answers of the earlier one', async () => {
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

  it('see the answers of sensors before them, however long these took', async () => {
    const t = await live(
      rule({ sensors: { a: on('late'), b: on('switch', { properties: { text: '${nodes.a.state}' } }) } }),
    )
    t.send({})
    t.to(5000)
    t.plugs.settle('a', 'Off')
    await promisesSettled()
    expect(t.plugs.callsOf('b')[0]?.properties).toEqual({ text: 'Off' })
  })

  it.each([true, false])('do not wait for a result that one of them holds back; parallel: %s', async (parallel) => {
    const t = await live(rule({ sensors: { a: on('switch'), b: on('switch') }, task: { parallel } }), {
      script: (plugs) => plugs.say('a', { state: 'On', after: 3000 }),
    })
    t.send({})
    t.to(10_000)
    expect(calls(t)).toEqual(['0 a', '0 b'])
  })
})

describe('a later stage', () => {
  const two = (more: object) => rule({ sensors: { a: on('late', more), b: on('switch', { sequence: 2 }) } })

  it.each([
    ['the time limit of a call', { timeout: 'PT3S' }, LATER, 3000],
    ['an error', {}, new Error('broken'), 0],
    ['the last of its retries', { retryConfig: { maxRetries: 1, minBackoff: 'PT2S' } }, new Error('broken'), 2000],
    ['an answer without a state', {}, { rawData: {} }, 0],
    ['no result that is held back', {}, { state: 'On', after: 4000 } as const, 0],
    ['no pause', { pauseExecution: true, pauseExecutionTimeout: 'PT7S' }, 'On', 0],
  ] as const)('waits for %s, and keeps the time of its input', async (_, more, said, clock) => {
    const t = await live(two(more), { script: (plugs) => plugs.say('a', said) })
    t.send({})
    t.to(60_000)
    expect(calls(t).filter((text) => text.endsWith('b'))).toEqual(['0 b'])
    const results = t.events.filter(({ type, node }) => type === 'result' && node === 'b')
    expect(results.map((event) => [event.time, event.at ?? event.time])).toEqual([[0, clock]])
  })

  it('is called after the sensors that the stage before triggers', async () => {
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

  it('does not wait for a triggered sensor that only waits', async () => {
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

  it('runs before the sensors of a later message', async () => {
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

  it('runs a sensor once that both the message and a trigger run', async () => {
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
    expect(t.lines('fired', 'held')).toEqual(['0 fired a>b'])
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

  it.each([
    ['a trigger', 'other', ['0 d', '0 b', '1000 start', '1000 d']],
    ['a message', 'r', ['0 d', '0 b', '1000 d', '1000 b']],
  ])('is not affected when %s runs a sensor whose result is held back', async (_, resource, expected) => {
    const t = await live(superseded, { script: (plugs) => plugs.say('d', { state: 'On', after: 60_000 }) })
    t.send({})
    t.to(1000)
    t.send({}, resource)
    t.to(200_000)
    expect(calls(t)).toEqual(expected)
    expect(t.lines('result').filter((text) => text.includes(' d '))).toEqual(['61000 result d On'])
  })
})

describe('triggered sensors', () => {
  it('run after the root sensors of their stage, by their distance from these, then as declared', async () => {
    const t = await live(
      rule({
        sensors: { a: on('switch'), b: on('switch'), x: 'switch', y: 'switch', z: 'switch' },
        triggers: [trigger('a', 'x'), trigger('a', 'y'), trigger('x', 'z')],
      }),
    )
    t.send({})
    expect(calls(t)).toEqual(['0 a', '0 b', '0 x', '0 y', '0 z'])
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
