import { describe, expect, it } from 'vitest'
import { live, restarted } from '../../support/live-engine.ts'
import { gate, is, on, rule, trigger, turns } from '../../support/rule-writing.ts'

describe('a reset', () => {
  const two = (task: object) =>
    rule({
      sensors: { a: on('switch'), b: on('switch', { resource: 'q' }), far: 'switch' },
      actuators: ['act'],
      relations: [gate('both', 'AND', ['a', 'On'], ['b', 'On'])],
      triggers: [trigger('both', 'act', is('TRUE')), trigger('a', 'far', turns('Off', 'On'))],
      task,
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
})

describe('an eviction', () => {
  it('forgets the raw data of the sensor, even if a reset made its state unknown before', async () => {
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
})
