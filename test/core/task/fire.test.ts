import { describe, expect, it } from 'vitest'
import { live, promisesSettled, type Live, type LiveOptions } from '../../support/live-engine.ts'
import { LATER, withActing, type ScriptedPlugs } from '../../support/scripted-plugs.ts'
import { atMostEvery, gate, is, on, rule, trigger, turns } from '../../support/rule-writing.ts'

// Holds STEP-4
describe('the cool-down of a destination', () => {
  it('holds firings strictly within it, and the next one counts from the last that fired', async () => {
    const t = await live(
      rule({ sensors: { s: 'switch' }, actuators: ['act'], triggers: [trigger('s', 'act', atMostEvery(10))] }),
    )
    for (const time of [0, 1, 9999, 10_000, 10_001, 20_000]) {
      t.to(time)
      t.task.push('s', { state: 'On' })
    }
    expect(t.fired()).toEqual(['0 act', '10000 act', '20000 act'])
    expect(t.events.filter((event) => event.type === 'held')).toEqual([
      expect.objectContaining({ time: 1, node: 'act', source: 's', reason: 'invocationPolicy', until: 10_000 }),
      expect.objectContaining({ time: 9999, until: 10_000 }),
      expect.objectContaining({ time: 10_001, until: 20_000 }),
    ])
  })

  it('belongs to the destination: each trigger measures its own window from the last firing by any', async () => {
    const t = await live(
      rule({
        sensors: { a: 'switch', b: 'switch' },
        actuators: ['act'],
        triggers: [trigger('a', 'act', atMostEvery(10)), trigger('b', 'act', atMostEvery(2))],
      }),
    )
    const push = (time: number, node: string) => {
      t.to(time)
      t.task.push(node, { state: 'On' })
    }
    push(0, 'a')
    push(1000, 'b')
    push(2000, 'b')
    push(10_000, 'a')
    push(12_000, 'a')
    expect(t.lines('fired', 'held')).toEqual([
      '0 fired a>act',
      '1000 held b>act invocationPolicy',
      '2000 fired b>act',
      '10000 held a>act invocationPolicy',
      '12000 fired a>act',
    ])
  })

  it('does not hold other destinations of the same source', async () => {
    const triggers = [trigger('s', 'act', atMostEvery(10)), trigger('s', 'other')]
    const t = await live(rule({ sensors: { s: 'switch' }, actuators: ['act', 'other'], triggers }))
    t.task.push('s', { state: 'On' })
    t.task.push('s', { state: 'On' })
    expect(t.fired()).toEqual(['0 act', '0 other', '0 other'])
  })

  it('counts a firing whose execution fails', async () => {
    const t = await live(
      rule({ sensors: { s: 'switch' }, actuators: ['act'], triggers: [trigger('s', 'act', atMostEvery(10))] }),
      { script: (plugs) => plugs.say('act', new Error('no paper')) },
    )
    t.task.push('s', { state: 'On' })
    t.to(5000)
    t.task.push('s', { state: 'On' })
    expect(t.fired()).toEqual(['0 act'])
  })

  it('holds sensors as well, and is over when the task starts again', async () => {
    const t = await live(
      rule({ sensors: { s: 'switch', d: 'switch' }, triggers: [trigger('s', 'd', atMostEvery(1e15))] }),
    )
    t.task.push('s', { state: 'On' })
    t.to(1e6)
    t.task.push('s', { state: 'On' })
    await t.engine.stop('t')
    await t.engine.start('t')
    t.task.push('s', { state: 'On' })
    expect(t.fired()).toEqual(['0 d', '1000000 d'])
  })
})

describe('a destination at work', () => {
  const chain = rule({ sensors: { s: 'switch', d: 'late' }, triggers: [trigger('s', 'd')] })

  it('fires again for the next input, which waits until its plug has answered', async () => {
    const t = await live(chain)
    t.task.push('s', { state: 'On' })
    t.to(1000)
    t.task.push('s', { state: 'On' })
    expect(t.fired()).toEqual(['0 d'])
    expect(t.plugs.openCalls('d')).toBe(1)
    t.to(3000)
    t.plugs.settle('d', 'Off')
    await promisesSettled()
    expect(t.lines('fired', 'held', 'result')).toEqual(['0 fired s>d', '0 result d Off', '1000 fired s>d'])
    expect(t.plugs.openCalls('d')).toBe(1)
  })

  it('fires once for two triggers of one input; the why lists both', async () => {
    const t = await live(
      rule({
        sensors: { s: 'switch', d: 'late' },
        relations: [gate('any', 'OR', ['s', 'On'])],
        triggers: [trigger('s', 'd'), trigger('any', 'd', is('TRUE'))],
      }),
    )
    t.task.push('s', { state: 'On' })
    t.plugs.settle('d', 'On')
    await promisesSettled()
    expect(t.lines('fired', 'held', 'result')).toEqual(['0 fired s>d', '0 result d On'])
    expect(t.plugs.callsOf('d')).toHaveLength(1)
    expect(t.firings()[0]?.why).toMatchObject({
      trigger: { source: 's', matched: 'execution' },
      also: [{ source: 'any', destination: 'd', matched: 'state', from: null, to: 'TRUE' }],
    })
  })

  it('that waits for another attempt has later inputs wait for it', async () => {
    const d = { name: 'switch', retryConfig: { maxRetries: 2, minBackoff: 'PT5S' } }
    const t = await live(rule({ sensors: { s: 'switch', d }, triggers: [trigger('s', 'd')] }), {
      script: (plugs) => plugs.say('d', new Error('busy'), 'On'),
    })
    t.task.push('s', { state: 'On' })
    t.to(1000)
    t.task.push('s', { state: 'On' })
    expect(t.fired()).toEqual(['0 d'])
    t.to(5000)
    expect(t.lines('fired', 'held', 'result')).toEqual([
      '0 fired s>d',
      '0 result d On',
      '1000 fired s>d',
      '1000 result d On',
    ])
    expect(t.events.filter(({ type }) => type === 'result').map(({ at }) => at)).toEqual([5000, 5000])
  })

  it('starts anew while it only holds back a result; the old result never comes', async () => {
    const t = await live(chain, {
      script: (plugs) => plugs.say('d', { state: 'Off', after: 5000 }, { state: 'On', after: 5000 }),
    })
    t.task.push('s', { state: 'On' })
    t.to(3000)
    t.task.push('s', { state: 'On' })
    t.to(20_000)
    expect(t.lines('result')).toEqual(['8000 result d On'])
    expect(t.lines('held')).toEqual([])
  })

  it('starts anew while it is paused', async () => {
    const d = { name: 'switch', pauseExecution: true, pauseExecutionTimeout: 'PT10S' }
    const t = await live(rule({ sensors: { s: 'switch', d }, triggers: [trigger('s', 'd')] }))
    t.task.push('s', { state: 'On' })
    t.to(6000)
    t.task.push('s', { state: 'On' })
    t.to(12_000)
    expect(t.lines('fired', 'held', 'result')).toEqual(['0 fired s>d', '6000 fired s>d'])
  })

  const phases = (t: Live) => t.task.save().state.executing?.map(({ node, phase }) => `${node} ${phase}`)

  it('that is an actuator fires at once, and its calls are made one after the other', async () => {
    const t = await live(rule({ sensors: { s: 'switch' }, actuators: ['act'], triggers: [trigger('s', 'act')] }), {
      script: (plugs) => plugs.say('act', LATER),
    })
    t.task.push('s', { state: 'On' })
    t.task.push('s', { state: 'On' })
    expect(t.lines('fired', 'held')).toEqual(['0 fired s>act', '0 fired s>act'])
    expect(t.plugs.callsOf('act')).toHaveLength(1)
    expect(phases(t)).toEqual(['act called', 'act behind'])
    t.plugs.settle('act', undefined)
    await promisesSettled()
    expect(t.plugs.callsOf('act')).toHaveLength(2)
    expect(phases(t)).toEqual(['act called'])
  })

  it('that is an actuator without an order may have several calls open', async () => {
    const act = { label: 'act', unordered: true }
    const t = await live(rule({ sensors: { s: 'switch' }, actuators: [act], triggers: [trigger('s', 'act')] }), {
      script: (plugs) => plugs.say('act', LATER),
    })
    t.task.push('s', { state: 'On' })
    t.task.push('s', { state: 'On' })
    expect(t.fired()).toEqual(['0 act', '0 act'])
    expect(t.plugs.openCalls('act')).toBe(2)
    expect(phases(t)).toEqual(['act called', 'act called'])
  })

  it('that cools down is held for that reason first', async () => {
    const t = await live(
      rule({
        sensors: { s: 'switch', d: 'late' },
        relations: [gate('any', 'OR', ['s', 'On'])],
        triggers: [trigger('s', 'd', atMostEvery(5)), trigger('any', 'd', is('TRUE'), atMostEvery(5))],
      }),
    )
    t.task.push('s', { state: 'On' })
    t.plugs.settle('d', 'On')
    await promisesSettled()
    t.to(1000)
    t.task.push('s', { state: 'On' })
    expect(t.lines('fired', 'held')).toEqual(['0 fired s>d', '1000 held s>d invocationPolicy'])
  })

  it('cools down by the times of inputs, not by when they had their turn', async () => {
    const t = await live(rule({ sensors: { s: 'switch', d: 'late' }, triggers: [trigger('s', 'd', atMostEvery(5))] }))
    for (const time of [0, 4999, 5000]) {
      t.to(time)
      t.task.push('s', { state: 'On' })
    }
    t.to(20_000)
    t.plugs.settle('d', 'On')
    await promisesSettled()
    expect(t.lines('fired', 'held')).toEqual(['0 fired s>d', '4999 held s>d invocationPolicy', '5000 fired s>d'])
  })
})

describe('calls of an actuator', () => {
  const act = { label: 'act', properties: { value: '${nodes.s.rawData.n}' } }
  const acting = rule({ sensors: { s: 'switch' }, actuators: [act], triggers: [trigger('s', 'act')] })
  const options: LiveOptions = { maxWaiting: 2 }
  const script = (plugs: ScriptedPlugs) => plugs.say('act', LATER)
  const values = (t: Live) => t.plugs.callsOf('act').map(({ properties }) => properties['value'])

  it('beyond those that may wait drop the oldest that waits; the others go on when it is their turn', async () => {
    const t = await live(acting, { ...options, script })
    for (let n = 1; n <= 4; n++) t.task.push('s', { state: 'On', rawData: { n } })
    expect(t.fired()).toEqual(['0 act', '0 act', '0 act', '0 act'])
    expect(t.lines('held', 'result', 'log')).toEqual([
      '0 log WARN a call of an actuator was dropped that waited for earlier ones on the same thing, the first; the task takes longer than its inputs leave',
      '0 result act failed: dropped before its turn: 2 later calls wait for earlier ones on the same thing',
    ])
    expect(t.task.info()).toMatchObject({ health: { errorsCount: 1, dropped: 1 }, waiting: { inputs: 0, effects: 2 } })
    for (let i = 0; i < 3; i++) {
      t.plugs.settle('act', undefined)
      await promisesSettled()
    }
    expect(values(t)).toEqual([1, 3, 4])
    expect(t.lines('result').slice(1)).toEqual(['0 result act -', '0 result act -', '0 result act -'])
  })

  it('fire again when there is room, and nothing more is dropped', async () => {
    const t = await live(acting, { ...options, script })
    for (let n = 1; n <= 4; n++) t.task.push('s', { state: 'On', rawData: { n } })
    t.plugs.settle('act', undefined)
    await t.wait(10)
    t.task.push('s', { state: 'On', rawData: { n: 5 } })
    expect(t.fired().slice(4)).toEqual(['10 act'])
    expect(t.task.info()).toMatchObject({ health: { dropped: 1 }, waiting: { effects: 2 } })
  })
})

describe('calls that touch the same', () => {
  /** `s` acts on what the message names; in a later stage, after `a` has fired `act`. So does `q`, for another resource. */
  const acting = rule({
    sensors: {
      a: on('switch'),
      s: on('acting', { sequence: 2, properties: { text: 'X' } }),
      q: on('acting', { resource: 'q', properties: { text: 'X' } }),
    },
    actuators: ['act'],
    triggers: [trigger('a', 'act')],
  })

  it('by sensors: the later one has the task wait, until the one before is over', async () => {
    const t = await live(acting, { scripted: withActing(), script: (plugs) => plugs.say('act', LATER) })
    t.send({})
    t.to(1000)
    t.send({}, 'q')
    expect(t.plugs.calls.map(({ node, now }) => `${now} ${node}`)).toEqual(['0 a', '0 act', '0 s', '1000 q'])
  })

  it('do not wait for one that only holds back its result', async () => {
    const t = await live(acting, {
      scripted: withActing(),
      script: (plugs) => {
        plugs.say('act', LATER)
        plugs.say('s', { state: 'On', after: 5000 })
      },
    })
    t.send({})
    t.to(1000)
    t.send({}, 'q')
    t.to(20_000)
    expect(t.plugs.calls.map(({ node, now }) => `${now} ${node}`)).toEqual(['0 a', '0 act', '0 s', '1000 q'])
    expect(t.lines('result')).toContain('5000 result s On')
  })
})

describe('one evaluation', () => {
  it('fires destinations in the order of declaration, each with an effect id of its own', async () => {
    const triggers = [trigger('s', 'c'), trigger('s', 'a', is('On')), trigger('s', 'b', turns('*', 'On'))]
    const t = await live(rule({ sensors: { s: on('switch') }, actuators: ['a', 'b', 'c'], triggers }))
    t.send({ s: 'On' })
    expect(t.firings().map(({ node, effect }) => [node, effect])).toEqual([
      ['a', 't/1/2/0'],
      ['b', 't/1/2/1'],
      ['c', 't/1/2/2'],
    ])
    expect(t.plugs.calls.map(({ id }) => id)).toEqual(['t/1/1/0', 't/1/2/0', 't/1/2/1', 't/1/2/2'])
  })

  it('gives the same effect ids when the same happens again in another engine, and others in another run', async () => {
    const ids = async () => {
      const t = await live(rule({ sensors: { s: on('switch') }, actuators: ['a'], triggers: [trigger('s', 'a')] }))
      t.send({ s: 'On' })
      t.send({ s: 'Off' })
      await t.engine.stop('t')
      await t.engine.start('t')
      t.send({ s: 'On' })
      return t.firings().map(({ effect }) => effect)
    }
    const first = await ids()
    expect(await ids()).toEqual(first)
    expect(new Set(first).size).toBe(3)
  })
})
