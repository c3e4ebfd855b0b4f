import { describe, expect, it } from 'vitest'
import { live, promisesSettled, restarted } from '../../support/live-engine.ts'
import { gate, general, is, on, rule, trigger, turns } from '../../support/rule-writing.ts'

describe('an observation', () => {
  it('recomputes all gates behind the sensor, parents first, and tells only of changes', async () => {
    const t = await live(
      rule({
        sensors: { a: 'switch', b: 'switch' },
        actuators: ['act'],
        relations: [
          gate('top', 'NAND', ['any', 'TRUE'], ['a', 'On']),
          gate('any', 'OR', ['a', 'On'], ['b', 'On']),
          general('odd', ['a', 'b'], ['On', 'Off'], ['Off', 'On']),
        ],
        triggers: [trigger('top', 'act', is('FALSE'))],
      }),
    )
    t.task.push('a', { state: 'On' })
    t.task.push('b', { state: 'On' })
    t.task.push('a', { state: 'On' })
    t.task.push('a', { state: 'Off' })
    expect(t.lines('state', 'gate', 'fired')).toEqual([
      '0 state a ?>On',
      '0 gate any ?>TRUE',
      '0 gate top ?>FALSE',
      '0 fired top>act',
      '0 state b ?>On',
      '0 gate odd ?>FALSE',
      '0 fired top>act',
      '0 fired top>act',
      '0 state a On>Off',
      '0 gate odd FALSE>TRUE',
      '0 gate top FALSE>TRUE',
    ])
  })
})

describe('a reset', () => {
  const two = (task: object) =>
    rule({
      sensors: { a: on('switch'), b: on('switch', { resource: 'q' }), far: 'switch' },
      actuators: ['act'],
      relations: [gate('both', 'AND', ['a', 'On'], ['b', 'On'])],
      triggers: [trigger('both', 'act', is('TRUE')), trigger('a', 'far', turns('Off', 'On'))],
      task,
    })

  it('spares sensors that the message does not run: two resources can meet in a gate', async () => {
    const t = await live(two({}))
    t.send({ a: 'On' })
    t.send({ b: 'On' }, 'q')
    expect(t.fired()).toEqual(['0 act'])
  })

  it('of scope task wipes every observation', async () => {
    const t = await live(two({ resetScope: 'task' }))
    t.send({ a: 'On' })
    t.send({ b: 'On' }, 'q')
    expect(t.fired()).toEqual([])
    expect(t.task.node('a').states).toEqual({ Off: 0.5, On: 0.5 })
  })

  it('is silent: no event tells that gates became unknown', async () => {
    const t = await live(two({}))
    t.send({ a: 'Off' })
    t.clear()
    t.send({ a: 'Off' })
    expect(t.lines('gate', 'state')).toEqual(['0 state a ?>Off', '0 gate both ?>FALSE'])
  })

  it('keeps raw data and the time of collection', async () => {
    const t = await live(two({}), {
      script: (plugs) => plugs.say('a', { state: 'On', rawData: { v: 1 } }, new Error('broken')),
    })
    t.send({})
    t.to(10)
    t.send({})
    expect(t.task.node('a')).toMatchObject({ states: { Off: 0.5 }, rawData: { v: 1 }, collectedTime: 0 })
  })

  it('takes along what triggers reach from the sensor', async () => {
    const t = await live(two({}), { script: (plugs) => plugs.say('far', 'On') })
    t.send({ a: 'Off' })
    t.send({ a: 'On' })
    expect(t.task.node('far').states).toEqual({ Off: 0, On: 1 })
    t.send({ a: 'On' })
    expect(t.task.node('far').states).toEqual({ Off: 0.5, On: 0.5 })
  })

  it('takes along a sensor that only waits: it runs anew', async () => {
    const t = await live(rule({ sensors: { a: on('switch') } }), {
      script: (plugs) => plugs.say('a', 'On', { state: 'Off', after: 5000 }),
    })
    t.send({})
    t.task.run('a')
    t.task.push('a', { state: 'On' })
    t.to(1000)
    t.send({})
    expect(t.task.node('a').states).toEqual({ Off: 0.5, On: 0.5 })
    t.to(60_000)
    expect(t.lines('result', 'state')).toEqual([
      '0 result a On',
      '0 state a ?>On',
      '0 state a ?>On',
      '6000 result a Off',
      '6000 state a ?>Off',
    ])
  })

  it('comes when the message has its turn: what is at work sees the sensors as they were', async () => {
    const t = await live(rule({ sensors: { a: on('switch'), b: on('late', { sequence: 2 }) } }), {
      script: (plugs) => plugs.say('a', 'On', { rawData: {} }),
    })
    t.send({})
    t.send({})
    expect(t.task.node('a').states).toEqual({ Off: 0, On: 1 })
    t.plugs.settle('b', 'On')
    await promisesSettled()
    expect(t.task.node('a').states).toEqual({ Off: 0.5, On: 0.5 })
    expect(t.task.node('b').states).toEqual({ Off: 0.5, On: 0.5 })
  })
})

describe('an eviction', () => {
  const evicting = rule({
    sensors: { a: on('switch', { evictionTime: 5000 }), b: 'switch' },
    actuators: ['act'],
    relations: [gate('both', 'AND', ['a', 'On'], ['b', 'On']), gate('any', 'OR', ['a', 'On'], ['b', 'On'])],
    triggers: [trigger('both', 'act', is('TRUE')), trigger('a', 'act')],
  })

  it('makes the sensor unknown, tells so, and fires nothing', async () => {
    const t = await live(evicting)
    t.task.push('b', { state: 'On' })
    t.send({ a: 'On' })
    t.clear()
    t.to(60_000)
    expect(t.lines()).toEqual(['5000 evicted a On'])
    expect(t.task.node('a').states).toEqual({ Off: 0.5, On: 0.5 })
    expect(t.task.node('both').states['TRUE']).toBe(0.5)
    expect(t.task.node('any').states['TRUE']).toBe(1)
  })

  it('forgets the raw data of the sensor, also when a reset made its state unknown before', async () => {
    const reading = rule({
      sensors: {
        a: on('switch', { evictionTime: 5000 }),
        kept: on('switch', { evictionTime: 5000, keepRawData: true }),
        reads: on('switch', { resource: 'q', properties: { value: '${?nodes.a.rawData.v}' } }),
      },
    })
    const t = await live(reading)
    const both = (state: string) => ({ state, rawData: { v: 1 } })
    t.plugs.say('a', both('On'), new Error('broken'))
    t.plugs.say('kept', both('On'))
    t.send({})
    t.to(4999)
    t.send({})
    expect(t.task.node('a')).toMatchObject({ rawData: { v: 1 }, states: { On: 0.5 } })
    t.send({}, 'q')
    t.to(60_000)
    t.send({}, 'q')
    expect(t.plugs.callsOf('reads').map(({ properties }) => properties['value'])).toEqual([1, undefined])
    expect(t.task.node('a')).not.toHaveProperty('rawData')
    expect(t.task.node('kept')).toMatchObject({ rawData: { v: 1 }, states: { On: 0.5 } })
    expect((await restarted(t)).task.node('a')).not.toHaveProperty('rawData')
  })

  it('counts from the last observation', async () => {
    const t = await live(evicting)
    for (const time of [0, 4000, 8000]) {
      t.to(time)
      t.send({ a: 'On' })
    }
    t.to(60_000)
    expect(t.lines('evicted')).toEqual(['13000 evicted a On'])
  })

  it('is not put off by an execution that shows no state', async () => {
    const t = await live(evicting, { script: (plugs) => plugs.say('a', 'On', { rawData: {} }) })
    t.send({})
    t.to(4000)
    t.task.push('a', { rawData: { v: 1 } })
    t.to(60_000)
    expect(t.lines('evicted')).toEqual(['5000 evicted a On'])
  })

  it('due at the instant of a message comes first', async () => {
    const t = await live(
      rule({
        sensors: { a: on('switch', { evictionTime: 5000 }), b: on('switch', { resource: 'q' }) },
        actuators: ['act'],
        relations: [gate('both', 'AND', ['a', 'On'], ['b', 'On'])],
        triggers: [trigger('both', 'act', is('TRUE'))],
      }),
    )
    t.send({ a: 'On' })
    t.to(4999)
    t.send({ b: 'On' }, 'q')
    t.to(5000)
    t.send({ b: 'On' }, 'q')
    expect(t.fired()).toEqual(['4999 act'])
  })

  it('due at the instant of a tick, a follow-up and a held result comes before all of them', async () => {
    const t = await live(
      rule({
        sensors: {
          tick: { name: 'switch' },
          held: on('switch', { tickTrigger: false }),
          follow: on('switch', { tickTrigger: false }),
          gone: on('switch', { tickTrigger: false, evictionTime: 5000 }),
          own: { name: 'switch', pollingPeriod: 5000 },
        },
        task: { type: 'periodic', frequency: 5000 },
      }),
      {
        script: (plugs) => {
          plugs.say('held', { state: 'On', after: 5000 })
          plugs.say('follow', { state: 'Off', then: { state: 'On', after: 5000 } })
          plugs.say('gone', 'On')
        },
      },
    )
    t.send({})
    t.clear()
    t.to(5000)
    expect(t.lines('evicted', 'state', 'tick', 'result')).toEqual([
      '5000 evicted gone On',
      '5000 result held On',
      '5000 state held ?>On',
      '5000 state follow Off>On',
      '5000 tick own',
      '5000 tick',
      '5000 result tick -',
      '5000 result own -',
    ])
  })
})
