import { describe, expect, it } from 'vitest'
import type { TaskSettings, Trigger } from '../../../src/core/rule/rule.ts'
import { live, restarted } from '../../support/live-engine.ts'
import { gate, general, is, on, rule, trigger, turns } from '../../support/rule-writing.ts'

const begins = (...states: string[]): Partial<Trigger> => ({ begins: states })
const ends = (...states: string[]): Partial<Trigger> => ({ ends: states })

// Holds EVAL-1, EVAL-2
describe('one message of several sensors', () => {
  const both = (...triggers: Trigger[]) =>
    rule({
      sensors: { a: on('switch'), b: on('switch') },
      relations: [gate('and', 'AND', ['a', 'On'], ['b', 'On'])],
      actuators: ['act'],
      triggers,
      task: { resetObservations: false },
    })

  it('decides a gate once, from what all of them show', async () => {
    const t = await live(both(trigger('and', 'act', is('TRUE'))))
    t.send({ a: 'On', b: 'Off' })
    t.send({ a: 'Off', b: 'On' })
    expect(t.fired()).toEqual([])
    t.send({ a: 'On', b: 'On' })
    expect(t.fired()).toEqual(['0 act'])
    expect(t.lines('gate')).toEqual(['0 gate and ?>FALSE', '0 gate and FALSE>TRUE'])
  })

  it('calls an actuator once, however many of them lead to it', async () => {
    const labels = Array.from({ length: 8 }, (_, i) => `s${i}`)
    const t = await live(
      rule({
        sensors: Object.fromEntries(labels.map((label) => [label, on('switch')])),
        relations: [gate('any', 'OR', ...labels.map((label) => [label, 'On'] as [string, string]))],
        actuators: ['act'],
        triggers: [trigger('any', 'act', is('TRUE')), ...labels.map((label) => trigger(label, 'act', is('On')))],
      }),
    )
    t.send(Object.fromEntries(labels.map((label) => [label, 'On'])))
    expect(t.fired()).toEqual(['0 act'])
    expect(t.plugs.callsOf('act')).toHaveLength(1)
  })

  it('fires by the first trigger whose own cool-down has passed; both count from there', async () => {
    const t = await live(
      both(
        trigger('a', 'act', is('On'), { invocationPolicy: 3600 }),
        trigger('b', 'act', is('On'), { invocationPolicy: 60 }),
      ),
    )
    for (const time of [0, 30_000, 60_000, 119_000, 120_000]) {
      t.to(time)
      t.send({ a: 'On', b: 'On' })
    }
    expect(t.lines('fired', 'held')).toEqual([
      '0 fired a>act',
      '30000 held b>act invocationPolicy',
      '60000 fired b>act',
      '119000 held b>act invocationPolicy',
      '120000 fired b>act',
    ])
  })
})

describe('two timers of one millisecond', () => {
  it('are one input: a gate over both is decided once', async () => {
    const t = await live(
      rule({
        sensors: { a: on('switch'), b: on('switch') },
        relations: [general('one', ['a', 'b'], ['On', 'Off'], ['Off', 'On'])],
        actuators: ['act'],
        triggers: [trigger('one', 'act', is('TRUE'))],
      }),
      {
        script: (plugs) => {
          plugs.say('a', { state: 'Off', then: { state: 'On', after: 5000 } })
          plugs.say('b', { state: 'Off', then: { state: 'On', after: 5000 } })
        },
      },
    )
    t.send({})
    t.to(5000)
    expect(t.lines('state', 'gate')).toEqual([
      '0 state a ?>Off',
      '0 state b ?>Off',
      '0 gate one ?>FALSE',
      '5000 state a Off>On',
      '5000 state b Off>On',
    ])
    expect(t.fired()).toEqual([])
  })
})

// Holds EVAL-3
describe('a loop of a sensor', () => {
  it('evaluates each further item by itself: all of one sensor, then those of the next', async () => {
    const loop = { loopDef: '[{"n":1},{"n":2},{"n":3}]' }
    const t = await live(
      rule({
        sensors: { a: on('switch', loop), b: on('switch', loop) },
        actuators: ['onA', 'onB'],
        triggers: [trigger('a', 'onA'), trigger('b', 'onB')],
      }),
    )
    t.send({})
    expect(t.fired()).toEqual(['0 onA', '0 onB', '0 onA', '0 onA', '0 onB', '0 onB'])
  })
})

describe('the edges of a trigger', () => {
  const watched = (more: Partial<Trigger>, task: TaskSettings = {}, sensor = {}) =>
    live(
      rule({ sensors: { s: on('switch', sensor) }, actuators: ['act'], triggers: [trigger('s', 'act', more)], task }),
    )

  const seen = async (more: Partial<Trigger>, states: readonly (string | undefined)[], task: TaskSettings = {}) => {
    const t = await watched(more, task)
    for (const [i, state] of states.entries()) {
      t.to(i * 1000)
      t.send({ s: state })
    }
    return t.fired().map((text) => Number(text.split(' ')[0]) / 1000)
  }

  it.each([true, false])('are the same with and without a reset: %s', async (resetObservations) => {
    const states = ['Off', 'On', 'On', 'Off', 'Off', 'On']
    expect(await seen(begins('On'), states, { resetObservations })).toEqual([1, 5])
    expect(await seen(ends('On'), states, { resetObservations })).toEqual([3])
    expect(await seen({ ...begins('On'), ...ends('On') }, states, { resetObservations })).toEqual([1, 3, 5])
  })

  it('begin with the first known state, and do not end with it', async () => {
    expect(await seen(begins('On'), ['On', 'On'])).toEqual([0])
    expect(await seen(ends('On'), ['Off', 'Off'])).toEqual([])
  })

  it('are not moved by a failed run', async () => {
    const t = await watched(ends('On'))
    t.send({ s: 'On' })
    t.plugs.say('s', new Error('broken'))
    t.send({})
    expect(t.fired()).toEqual([])
    t.plugs.say('s', 'Off')
    t.send({})
    expect(t.fired()).toEqual(['0 act'])
  })

  it('end after an eviction, where a change does not', async () => {
    const t = await watched(ends('On'), { resetObservations: false }, { evictionTime: 1000 })
    const change = await watched(turns('On', '*'), { resetObservations: false }, { evictionTime: 1000 })
    for (const one of [t, change]) {
      one.send({ s: 'On' })
      one.to(5000)
      one.send({ s: 'Off' })
    }
    expect([t.fired(), change.fired()]).toEqual([['5000 act'], []])
  })

  it('are delayed by a cool-down, and not lost', async () => {
    const more = { ...begins('On'), invocationPolicy: 5 }
    expect(await seen(more, ['On', 'Off', 'On', 'On', 'On', 'On', 'On'])).toEqual([0, 5])
    expect(await seen(more, ['On', 'Off', 'On', 'Off', 'Off', 'Off', 'Off'])).toEqual([0])
  })

  it('are kept over a restart of the engine, and forgotten by a start of the task', async () => {
    const t = await restarted(
      await (async () => {
        const before = await watched(begins('On'))
        before.send({ s: 'On' })
        return before
      })(),
    )
    t.clear()
    t.send({ s: 'On' })
    expect(t.fired()).toEqual([])
    await t.engine.stop('t')
    await t.engine.start('t')
    t.send({ s: 'On' })
    expect(t.fired()).toEqual(['0 act'])
  })

  // Holds CARRY-4
  it('are kept by a change of the rule, also of the destination itself; new ones go by the last known state', async () => {
    const t = await watched(begins('On'), { resetObservations: false })
    t.send({ s: 'On' })
    t.clear()
    const changed = (...triggers: Trigger[]) =>
      rule({
        sensors: { s: on('switch') },
        actuators: [{ label: 'act', properties: { other: 1 } }, 'more'],
        triggers,
        task: { resetObservations: false },
      })
    await t.engine.change('t', changed(trigger('s', 'act', begins('On')), trigger('s', 'more', ends('On'))))
    t.send({ s: 'On' })
    expect(t.fired()).toEqual([])
    t.send({ s: 'Off' })
    expect(t.fired()).toEqual(['0 more'])
  })

  it('are told by explain', async () => {
    const t = await watched(begins('On'))
    t.send({ s: 'On' })
    t.send({ s: 'On' })
    expect(t.task.explain('act').triggers).toEqual([
      expect.objectContaining({
        condition: 's enters On',
        blocked: [expect.objectContaining({ reason: 'unchanged', node: 's' })],
      }),
    ])
  })
})

describe('random messages of two fields, a > 5 AND b < 5', () => {
  /** 500 pairs of 0 to 9, made as a linear congruential generator makes them. */
  const pairs = Array.from(
    { length: 500 },
    (_, i) => [(i * 7919 + 13) % 10, (i * 104_729 + 7 * (i >> 1)) % 10] as const,
  )
  const truths = pairs.map(([a, b]) => a > 5 && b < 5)
  const count = (holds: (now: boolean, before: boolean | undefined) => boolean) =>
    truths.filter((now, i) => holds(now, truths[i - 1])).length

  it.each<[string, Partial<Trigger>, boolean, number]>([
    ['each message at which it holds', is('TRUE'), true, count((now) => now)],
    ['the same without a reset', is('TRUE'), false, count((now) => now)],
    ['each of them under a reset', turns('*', 'TRUE'), true, count((now) => now)],
    ['its beginnings without', turns('*', 'TRUE'), false, count((now, before) => now && before !== true)],
    ['changes from FALSE', turns('FALSE', 'TRUE'), true, count((now, before) => now && before === false)],
    ['changes from FALSE without', turns('FALSE', 'TRUE'), false, count((now, before) => now && before === false)],
    ['beginnings', begins('TRUE'), true, count((now, before) => now && before !== true)],
    ['beginnings without', begins('TRUE'), false, count((now, before) => now && before !== true)],
    ['ends', ends('TRUE'), true, count((now, before) => !now && before === true)],
  ])('fires at %s', async (_, more, resetObservations, expected) => {
    const t = await live(
      rule({
        sensors: { a: on('switch'), b: on('switch') },
        relations: [gate('and', 'AND', ['a', 'On'], ['b', 'On'])],
        actuators: ['act'],
        triggers: [trigger('and', 'act', more)],
        task: { resetObservations },
      }),
    )
    for (const [a, b] of pairs) t.send({ a: a > 5 ? 'On' : 'Off', b: b < 5 ? 'On' : 'Off' })
    expect(t.fired()).toHaveLength(expected)
    expect(expected).toBeGreaterThan(20)
  })
})
