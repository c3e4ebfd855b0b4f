import { describe, expect, it } from 'vitest'
import type { PlugContext } from '../../../src/core/plug/plug.ts'
import { live } from '../../support/live-engine.ts'
import { on, rule, trigger } from '../../support/rule-writing.ts'

const last = (t: { plugs: { callsOf(node: string): readonly { stream: object }[] } }, node: string) =>
  t.plugs.callsOf(node).at(-1)?.stream

describe('the values of a message', () => {
  const task = rule({ sensors: { s: on('switch') } })

  it.each([
    [59_999, true],
    [60_000, false],
    [60_001, false],
  ])('are available to a run %i ms later: %s', async (later, seen) => {
    const t = await live(task)
    t.send({ temperature: 21 })
    t.to(later)
    t.task.run('s')
    expect(last(t, 's')).toEqual(seen ? { resource: 'r', temperature: 21 } : {})
    const { context } = t.plugs.callsOf('s').at(-1) ?? {}
    expect(context?.streamValue('temperature')).toBe(seen ? 21 : undefined)
  })

  it('stay for the configured time', async () => {
    const t = await live(task, { streamValidity: 5000 })
    t.send({ v: 1 })
    t.to(5000)
    t.task.run('s')
    expect(last(t, 's')).toEqual({})
  })

  it('cannot change the prototype of data for plugs', async () => {
    const t = await live(task)
    t.engine.receive(JSON.parse('{"resource":"r","v":1,"__proto__":{"admin":true}}') as { resource: string })
    t.send({ w: 2 })
    for (const { context } of t.plugs.callsOf('s')) {
      expect(context.streamData['admin']).toBeUndefined()
      expect(context.streamValue('admin')).toBeUndefined()
      expect(context.lookup(['streamdata', 'admin'])).toBeUndefined()
    }
  })
})

describe('a node in a cascade', () => {
  const chain = rule({
    sensors: { a: on('switch'), free: 'switch', own: on('switch', { resource: 'q' }) },
    actuators: ['act'],
    triggers: [trigger('a', 'free'), trigger('free', 'act'), trigger('a', 'own')],
  })

  it('without a resource sees the message that began it', async () => {
    const t = await live(chain)
    t.send({ v: 1 })
    expect(last(t, 'free')).toEqual({ resource: 'r', v: 1 })
    expect(last(t, 'act')).toEqual({ resource: 'r', v: 1 })
  })
})

describe('the data of nodes', () => {
  it('contains their last results, with state and time; GLOBAL is the stream', async () => {
    const seen: PlugContext['rawData'][] = []
    const t = await live(rule({ sensors: { a: on('switch'), b: on('switch', { sequence: 2 }), never: 'switch' } }), {
      script: (plugs) => {
        plugs.say('a', { state: 'On', rawData: { v: 1, state: 'hidden', collectedTime: 'hidden' } })
        plugs.say('b', (context) => {
          seen.push(context.rawData)
          return 'Off'
        })
      },
    })
    t.to(5)
    t.send({ x: 2 })
    expect(seen).toEqual([{ GLOBAL: { resource: 'r', x: 2 }, a: { v: 1, state: 'On', collectedTime: 5 } }])
  })

  it('of actuators contains their last results', async () => {
    const t = await live(
      rule({
        sensors: { a: on('switch') },
        actuators: ['one', 'two'],
        triggers: [trigger('a', 'one'), trigger('a', 'two')],
      }),
      { script: (plugs) => plugs.say('one', { message: 'sent', rawData: { id: 4 } }) },
    )
    t.to(5)
    t.send({})
    const { context } = t.plugs.callsOf('two')[0] ?? {}
    expect(context?.actuatorData).toMatchObject({ one: { message: 'sent', rawData: { id: 4 }, collectedTime: 5 } })
  })
})
