import { describe, expect, it } from 'vitest'
import { live, promisesSettled, type Live, type LiveOptions } from '../../support/live-engine.ts'
import { LATER, withActing, type ScriptedPlugs } from '../../support/scripted-plugs.ts'
import { gate, is, on, rule, trigger, turns } from '../../support/rule-writing.ts'

describe('a running destination', () => {
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
})

describe('calls of an actuator', () => {
  const act = { label: 'act', properties: { value: '${nodes.s.rawData.n}' } }
  const acting = rule({ sensors: { s: 'switch' }, actuators: [act], triggers: [trigger('s', 'act')] })
  const options: LiveOptions = { maxWaiting: 2 }
  const script = (plugs: ScriptedPlugs) => plugs.say('act', LATER)
  const values = (t: Live) => t.plugs.callsOf('act').map(({ properties }) => properties['value'])

  it('beyond the limit drop the oldest waiting call; the others continue in turn', async () => {
    const t = await live(acting, { ...options, script })
    for (let n = 1; n <= 4; n++) t.task.push('s', { state: 'On', rawData: { n } })
    expect(t.fired()).toEqual(['0 act', '0 act', '0 act', '0 act'])
    expect(t.lines('held', 'result', 'log')).toEqual([
      '0 log WARN an actuator call that waited for earlier calls on the same target was dropped, the first; inputs arrive faster than the task processes them',
      '0 result act failed: dropped while it waited: 2 later calls wait for earlier calls on the same target',
    ])
    expect(t.task.info()).toMatchObject({ health: { errorsCount: 1, dropped: 1 }, waiting: { inputs: 0, effects: 2 } })
    for (let i = 0; i < 3; i++) {
      t.plugs.settle('act', undefined)
      await promisesSettled()
    }
    expect(values(t)).toEqual([1, 3, 4])
    expect(t.lines('result').slice(1)).toEqual(['0 result act -', '0 result act -', '0 result act -'])
  })
})

describe('calls with one target', () => {
  /**
   * `s` acts on the target in the message; in a later stage, after `a` has fired `act`. So does `q`, for another
   * resource.
   */
  const acting = rule({
    sensors: {
      a: on('switch'),
      s: on('acting', { sequence: 2, properties: { text: 'X' } }),
      q: on('acting', { resource: 'q', properties: { text: 'X' } }),
    },
    actuators: ['act'],
    triggers: [trigger('a', 'act')],
  })

  it('by sensors: the later call blocks the task until the earlier one has ended', async () => {
    const t = await live(acting, { scripted: withActing(), script: (plugs) => plugs.say('act', LATER) })
    t.send({})
    t.to(1000)
    t.send({}, 'q')
    expect(t.plugs.calls.map(({ node, now }) => `${now} ${node}`)).toEqual(['0 a', '0 act', '0 s', '1000 q'])
  })

  it('do not wait for a call whose result is only delayed', async () => {
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
  it('fires destinations in the order of declaration, each with its own effect id', async () => {
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
})
