import { describe, expect, it } from 'vitest'
import type { TaskSettings, Trigger } from '../../../src/core/rule/rule.ts'
import { live } from '../../support/live-engine.ts'
import { gate, general, is, on, rule, trigger } from '../../support/rule-writing.ts'

const begins = (...states: string[]): Partial<Trigger> => ({ begins: states })
const ends = (...states: string[]): Partial<Trigger> => ({ ends: states })

// Holds EVAL-1, EVAL-2
describe('one message of several sensors', () => {
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
