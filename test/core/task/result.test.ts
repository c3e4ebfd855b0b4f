import { describe, expect, it } from 'vitest'
import type { PlugContext } from '../../../src/core/plug/plug.ts'
import type { Sensor } from '../../../src/core/rule/rule.ts'
import { live, promisesSettled, restarted, type Live } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER, type Said } from '../../support/scripted-plugs.ts'

/** A sensor with two listeners: `ran` fires after every execution, `lit` when it is On. */
function watched(more: Partial<Sensor>, ...said: readonly Said[]): Promise<Live> {
  const sensor = { ...on('switch'), ...more }
  const triggers = [trigger('s', 'ran'), trigger('s', 'lit', is('On'))]
  return live(rule({ sensors: { s: sensor }, actuators: ['ran', 'lit'], triggers }), {
    script: (plugs) => plugs.say('s', ...said),
  })
}

const outcome = (t: Live) => t.lines('result', 'state', 'fired').filter((text) => !/result (ran|lit)/.test(text))

describe('the result of a sensor', () => {
  it.each<[string, Said, readonly string[]]>([
    ['a state', 'On', ['0 result s On', '0 state s ?>On', '0 fired s>ran', '0 fired s>lit']],
    [
      'a state and raw data',
      { state: 'Off', rawData: { v: 1 } },
      ['0 result s Off', '0 state s ?>Off', '0 fired s>ran'],
    ],
    ['raw data alone fires only what asks for no state', { rawData: { v: 1 } }, ['0 result s -', '0 fired s>ran']],
    ['nothing', undefined, ['0 result s -', '0 fired s>ran']],
    ['an error fires nothing', new Error('no air'), ['0 result s failed: no air']],
    [
      'an undeclared state is an error',
      () => ({ state: 'Dim' }),
      ['0 result s failed: State Dim is invalid for plug switch; it can be Off, On'],
    ],
  ])('%s', async (_, said, expected) => {
    const t = await watched({}, said)
    t.send({})
    expect(outcome(t)).toEqual(expected)
  })

  it('replaces raw data as a whole, and keeps it without new raw data or after a failure', async () => {
    const said = [{ rawData: { a: 1, b: 2 } }, { rawData: { a: 3 } }, 'On', new Error('broken')] as const
    const t = await watched({}, ...said)
    const seen = said.map(() => {
      t.send({})
      return t.task.node('s').rawData
    })
    expect(seen).toEqual([{ a: 1, b: 2 }, { a: 3 }, { a: 3 }, { a: 3 }])
  })

  it('passes its internal state to its next call, unless it returns none', async () => {
    const said = ({ internalState = 0 }: PlugContext) => ({ rawData: { before: internalState } })
    const t = await watched({}, { internalState: 7 }, said, said)
    t.send({})
    t.send({})
    t.send({})
    expect(t.task.node('s').rawData).toEqual({ before: 7 })
  })
})

describe('a late result of an actuator', () => {
  /** Pushes at 0, 10 and 20 fire `act`, one call after the other; its first call answers as configured. */
  async function acting(...said: readonly Said[]): Promise<Live> {
    const t = await live(rule({ sensors: { s: 'switch' }, actuators: ['act'], triggers: [trigger('s', 'act')] }), {
      script: (plugs) => plugs.say('act', ...said),
    })
    for (const time of [0, 10, 20]) {
      t.to(time)
      t.task.push('s', { state: 'On' })
    }
    return t
  }
  const results = (t: Live) =>
    t.events.flatMap((one) => (one.type === 'result' && one.node === 'act' ? [`${one.time} at ${one.at ?? '-'}`] : []))

  it('has the time of the input for which it fired, and the time of the clock', async () => {
    const t = await acting(LATER, LATER, undefined)
    await t.wait(1000)
    t.plugs.settle('act', { message: 'first' })
    await promisesSettled()
    expect(t.task.node('act')).toMatchObject({ rawData: { message: 'first', collectedTime: 0 }, collectedTime: 0 })
    await t.wait(3000)
    t.plugs.settle('act', { message: 'second' })
    await promisesSettled()
    // the third answers synchronously in its turn
    expect(results(t)).toEqual(['0 at 1000', '10 at 3000', '20 at 3000'])
    expect(t.task.node('act').collectedTime).toBe(20)
  })

  it('has that time even if it fails, or after a restart', async () => {
    const t = await restarted(await acting(LATER, LATER, new Error('busy')), 500)
    await t.wait(50_000)
    expect(results(t)).toEqual(['0 at 50000', '10 at 50000', '20 at 50000'])
    expect(t.task.node('act').error).toEqual({ time: 20, message: 'busy' })
  })

  it('with a delay has the time at which an immediate result would have applied, even across a restart', async () => {
    const before = await acting(LATER, { message: 'next' })
    await before.wait(1000)
    before.plugs.settle('act', { message: 'done', after: 5000 })
    await promisesSettled()
    before.clear()
    const t = await restarted(before)
    await t.wait(60_000)
    expect(t.task.node('act').rawData).toEqual({ message: 'done', collectedTime: 5000 })
    expect(results(t)).toEqual(['5000 at 6000'])
  })
})

// Holds STEP-5
describe('a delayed result', () => {
  it('applies as if it arrived then: state, raw data, time and triggers', async () => {
    const t = await watched({}, { state: 'On', rawData: { v: 1 }, after: 5000 })
    t.send({})
    t.to(4999)
    expect(t.task.node('s').states).toEqual({ Off: 0.5, On: 0.5 })
    t.to(5000)
    expect(t.task.node('s')).toMatchObject({ states: { On: 1 }, rawData: { v: 1 }, collectedTime: 5000 })
    expect(t.fired()).toEqual(['5000 ran', '5000 lit'])
  })

  it('is not subject to the time limit', async () => {
    const t = await watched({ timeout: 'PT1S' }, { state: 'On', after: 5000 })
    t.send({})
    t.to(5000)
    expect(t.lines('result')[0]).toBe('5000 result s On')
  })
})

describe('health', () => {
  it('counts invocations with a failure among the last 64', async () => {
    const t = await watched({}, new Error('broken'), new Error('broken'), 'On')
    t.send({})
    t.send({})
    expect(t.task.info().health).toEqual({ errorsCount: 2, errorsRate: 1, dropped: 0 })
    for (let i = 2; i < 64; i++) t.send({})
    expect(t.task.info().health).toEqual({ errorsCount: 2, errorsRate: 2 / 64, dropped: 0 })
    t.send({})
    expect(t.task.info().health).toEqual({ errorsCount: 1, errorsRate: 1 / 64, dropped: 0 })
    t.send({})
    expect(t.task.info().health).toEqual({ errorsCount: 0, errorsRate: 0, dropped: 0 })
    expect(t.task.info().invocationCount).toBe(66)
  })

  it('counts an invocation once, for any number of failing nodes, and never before the first', async () => {
    const sensors = { s: on('switch'), x: on('switch') }
    const t = await live(rule({ sensors }), {
      script: (plugs) => ['s', 'x'].forEach((node) => plugs.say(node, new Error('broken'))),
    })
    expect(t.task.info().health).toEqual({ errorsCount: 0, errorsRate: 0, dropped: 0 })
    t.send({})
    expect(t.task.info().health).toEqual({ errorsCount: 1, errorsRate: 1, dropped: 0 })
  })

  it('counts a late failure for the invocation that began the work', async () => {
    const t = await watched({}, LATER, 'On')
    t.send({})
    t.task.push('s', { state: 'On' })
    expect(t.task.info()).toMatchObject({ invocationCount: 1, waiting: { inputs: 1 } })
    t.plugs.fail('s')
    await promisesSettled()
    expect(t.task.info()).toMatchObject({
      invocationCount: 2,
      health: { errorsCount: 1, errorsRate: 1 / 2, dropped: 0 },
    })
    for (let i = 2; i < 64; i++) t.send({})
    expect(t.task.info().health).toEqual({ errorsCount: 1, errorsRate: 1 / 64, dropped: 0 })
    t.send({})
    expect(t.task.info().health).toEqual({ errorsCount: 0, errorsRate: 0, dropped: 0 })
  })
})
