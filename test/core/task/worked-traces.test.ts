import { describe, expect, it } from 'vitest'
import type { PlugAnswer, PlugContext } from '../../../src/core/plug/plug.ts'
import { live } from '../../support/live-engine.ts'
import { gate, general, is, on, rule, trigger, turns } from '../../support/rule-writing.ts'

describe('trace a: two dice, AND of two sixes, a tick a second', () => {
  it('one six leaves the gate unknown, a one makes it FALSE, two sixes fire once per tick', async () => {
    const dice = rule({
      sensors: { d1: 'dice', d2: 'dice' },
      actuators: ['level', 'rise', 'fall'],
      relations: [gate('both', 'AND', ['d1', 'SIX'], ['d2', 'SIX'])],
      triggers: [
        trigger('both', 'level', is('TRUE')),
        trigger('both', 'rise', turns('*', 'TRUE')),
        trigger('both', 'fall', turns('*', 'FALSE')),
      ],
      task: { type: 'periodic', frequency: 1000 },
    })
    const t = await live(dice, {
      script: (plugs) => {
        plugs.say('d1', 'SIX')
        plugs.say('d2', 'ONE', 'SIX')
      },
    })
    t.to(1000)
    expect(t.lines('tick', 'state', 'gate', 'fired')).toEqual([
      '0 tick',
      '0 state d1 ?>SIX',
      '0 state d2 ?>ONE',
      '0 gate both ?>FALSE',
      '0 fired both>fall',
      '1000 tick',
      '1000 state d1 ?>SIX',
      '1000 state d2 ?>SIX',
      '1000 gate both ?>TRUE',
      '1000 fired both>level',
      '1000 fired both>rise',
    ])
  })

  it('after one six the gate is TRUE with a probability of one sixth', async () => {
    const dice = rule({
      sensors: { d1: 'dice', d2: 'dice' },
      actuators: ['act'],
      relations: [gate('both', 'AND', ['d1', 'SIX'], ['d2', 'SIX'])],
      triggers: [trigger('both', 'act')],
    })
    const t = await live(dice)
    t.task.push('d1', { state: 'SIX' })
    expect(t.task.node('both').states['TRUE']).toBeCloseTo(1 / 6, 12)
    expect(t.fired()).toEqual([])
  })
})

describe('trace b: OR of two ones', () => {
  it('the first one makes it TRUE at once; the second die evaluates again: the level fires again, the change does not', async () => {
    const t = await live(
      rule({
        sensors: { d1: 'dice', d2: 'dice' },
        actuators: ['level', 'rise'],
        relations: [gate('any', 'OR', ['d1', 'ONE'], ['d2', 'ONE'])],
        triggers: [trigger('any', 'level', is('TRUE')), trigger('any', 'rise', turns('*', 'TRUE'))],
      }),
    )
    t.task.push('d1', { state: 'ONE' })
    expect(t.fired()).toEqual(['0 level', '0 rise'])
    t.to(10)
    t.task.push('d2', { state: 'FOUR' })
    expect(t.fired().slice(2)).toEqual(['10 level'])
  })
})

describe('trace c: the ripple counter', () => {
  const flip = ({ internalState }: PlugContext): PlugAnswer =>
    internalState === true ? { state: 'Off', internalState: false } : { state: 'On', internalState: true }
  const counter = (resetObservations: boolean) =>
    rule({
      sensors: { bit1: 'switch', bit2: 'switch', bit3: 'switch' },
      actuators: ['count'],
      relations: [gate('all', 'AND', ['bit1', 'On'], ['bit2', 'On'], ['bit3', 'On'])],
      triggers: [
        trigger('bit1', 'bit2', turns('On', 'Off')),
        trigger('bit2', 'bit3', turns('On', 'Off')),
        trigger('all', 'count', is('TRUE')),
      ],
      task: { type: 'periodic', frequency: 1000, resetObservations },
    })
  const script = (plugs: { say(node: string, said: typeof flip): void }) => {
    for (const bit of ['bit1', 'bit2', 'bit3']) plugs.say(bit, flip)
  }

  it('counts every eighth tick when observations are kept: internal states survive from tick to tick', async () => {
    const t = await live(counter(false), { script })
    t.to(15_000)
    expect(t.fired().filter((text) => text.endsWith('count'))).toEqual(['6000 count', '14000 count'])
  })

  it('with the default reset the higher bits are forgotten by each tick, and nothing is counted', async () => {
    const t = await live(counter(true), { script })
    t.to(15_000)
    expect(t.fired().filter((text) => text.endsWith('count'))).toEqual([])
    expect(t.fired()).toContain('1000 bit2')
  })
})

describe('trace d: Above at 0 s and 3 s, a delay of 5 s, and AND', () => {
  const delayed = (resetObservations: boolean) =>
    rule({
      sensors: { s: on('band'), delay: 'switch' },
      actuators: ['alarm'],
      relations: [gate('still', 'AND', ['delay', 'On'], ['s', 'Above'])],
      triggers: [trigger('s', 'delay', turns('*', 'Above')), trigger('still', 'alarm', is('TRUE'))],
      task: { resetObservations },
    })
  it.each([
    [true, 'starts the delay anew', '8000 alarm'],
    [false, 'changes nothing', '5000 alarm'],
  ])('with reset %s the second message %s', async (reset, _, expected) => {
    const t = await live(delayed(reset), { script: (plugs) => plugs.say('delay', { state: 'On', after: 5000 }) })
    t.send({ s: 'Above' })
    t.to(3000)
    t.send({ s: 'Above' })
    t.to(20_000)
    expect(t.fired().filter((text) => text.endsWith('alarm'))).toEqual([expected])
  })
})

describe('trace e: an alarm when nothing came for 5 s', () => {
  async function run(resetObservations: boolean, evictionTime?: number): Promise<readonly string[]> {
    const t = await live(
      rule({
        sensors: { s: on('switch', evictionTime === undefined ? {} : { evictionTime }), silence: 'switch' },
        actuators: ['alarm'],
        triggers: [trigger('s', 'silence', turns('*', '*')), trigger('silence', 'alarm', is('On'))],
        task: { resetObservations },
      }),
      { script: (plugs) => plugs.say('silence', { state: 'On', after: 5000 }) },
    )
    for (const time of [0, 3000, 4500, 20_000]) {
      t.to(time)
      t.send({ s: 'On' })
    }
    t.to(60_000)
    return t.fired().filter((text) => text.endsWith('alarm'))
  }

  it.each([true, false])('with eviction every message starts the wait anew (reset %s)', async (reset) => {
    expect(await run(reset, 1000)).toEqual(['9500 alarm', '25000 alarm'])
  })

  it('without eviction and without reset an equal message starts nothing', async () => {
    expect(await run(false)).toEqual(['5000 alarm'])
  })
})

describe('trace f: a threshold and a polled sensor that has to be fresh', () => {
  it('nothing fires once the polled source has been failing for 10 minutes', async () => {
    const t = await live(
      rule({
        sensors: {
          s: on('band'),
          polled: { name: 'switch', pollingPeriod: 60_000, evictionTime: 600_000 },
        },
        actuators: ['alarm'],
        relations: [general('fresh', ['s', 'polled'], ['Above', 'Off'], ['Above', 'On'])],
        triggers: [trigger('fresh', 'alarm', is('TRUE'))],
        task: { resetObservations: false, gatesNeedFullObservation: true },
      }),
      { script: (plugs) => plugs.say('polled', 'On', new Error('unreachable')) },
    )
    for (const time of [30_000, 599_999, 600_000, 900_000]) {
      t.to(time)
      t.send({ s: 'Above' })
    }
    expect(t.fired()).toEqual(['30000 alarm', '599999 alarm'])
    expect(t.lines('evicted')).toEqual(['600000 evicted polled On'])
  })
})
