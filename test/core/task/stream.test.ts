import { describe, expect, it } from 'vitest'
import type { PlugContext } from '../../../src/core/plug/plug.ts'
import { live } from '../../support/live-engine.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'

const last = (t: { plugs: { callsOf(node: string): readonly { stream: object }[] } }, node: string) =>
  t.plugs.callsOf(node).at(-1)?.stream

describe('the values of a message', () => {
  const task = rule({ sensors: { s: on('switch') } })

  it.each([
    [59_999, true],
    [60_000, false],
    [60_001, false],
  ])('are in reach of a run %i ms later: %s', async (later, seen) => {
    const t = await live(task)
    t.send({ temperature: 21 })
    t.to(later)
    t.task.run('s')
    expect(last(t, 's')).toEqual(seen ? { resource: 'r', temperature: 21 } : {})
    const { context } = t.plugs.callsOf('s').at(-1) ?? {}
    expect(context?.streamValue('temperature')).toBe(seen ? 21 : undefined)
  })

  it('stay for as long as the engine is told', async () => {
    const t = await live(task, { streamValidity: 5000 })
    t.send({ v: 1 })
    t.to(5000)
    t.task.run('s')
    expect(last(t, 's')).toEqual({})
  })

  it('outlive a newer message that does not repeat them, each for its own time', async () => {
    const t = await live(task)
    t.send({ temperature: 21 })
    t.to(40_000)
    t.send({ humidity: 60 })
    expect(last(t, 's')).toEqual({ resource: 'r', temperature: 21, humidity: 60 })
    t.to(59_999)
    t.task.run('s')
    expect(last(t, 's')).toHaveProperty('temperature', 21)
    t.to(60_000)
    t.task.run('s')
    expect(last(t, 's')).toEqual({ resource: 'r', humidity: 60 })
    t.to(100_000)
    t.task.run('s')
    expect(last(t, 's')).toEqual({})
  })

  it('are replaced by a newer value, which then has its own time', async () => {
    const t = await live(task)
    t.send({ v: 1, w: 1 })
    t.to(30_000)
    t.send({ v: 2 })
    t.to(40_000)
    t.send({ w: 3 })
    t.to(70_000)
    t.task.run('s')
    expect(last(t, 's')).toEqual({ resource: 'r', v: 2, w: 3 })
    t.to(90_000)
    t.task.run('s')
    expect(last(t, 's')).toEqual({ resource: 'r', w: 3 })
  })

  it('are remembered although no node ran on them', async () => {
    const t = await live(rule({ sensors: { s: on('switch', { dataTrigger: false }) } }))
    expect(t.send({ v: 1 })).toBe(true)
    expect(t.lines()).toEqual(['0 started 1'])
    t.task.run('s')
    expect(last(t, 's')).toEqual({ resource: 'r', v: 1 })
  })

  it('cannot plant a prototype in what plugs are given', async () => {
    const t = await live(task)
    t.engine.receive(JSON.parse('{"resource":"r","v":1,"__proto__":{"admin":true}}') as { resource: string })
    t.send({ w: 2 })
    for (const { context } of t.plugs.callsOf('s')) {
      expect(context.streamData['admin']).toBeUndefined()
      expect(context.streamValue('admin')).toBeUndefined()
      expect(context.lookup(['streamdata', 'admin'])).toBeUndefined()
    }
  })

  it('are forgotten when the task starts again', async () => {
    const t = await live(task)
    t.send({ v: 1 })
    await t.engine.stop('t')
    await t.engine.start('t')
    t.task.run('s')
    expect(last(t, 's')).toEqual({})
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

  it('sees the message that began it even when a newer one came in between', async () => {
    const waiting = rule({
      sensors: { a: on('switch'), free: 'switch' },
      actuators: ['act'],
      triggers: [trigger('a', 'free', is('On')), trigger('free', 'act')],
    })
    const t = await live(waiting, { script: (plugs) => plugs.say('free', { state: 'On', after: 5000 }) })
    t.send({ a: 'On', v: 1 })
    t.to(1000)
    t.send({ a: 'Off', v: 2 })
    t.to(10_000)
    expect(t.plugs.callsOf('act').map(({ now, stream }) => [now, stream['v']])).toEqual([[5000, 1]])
  })

  it('with a resource of its own sees the values of that, while they hold', async () => {
    const t = await live(chain)
    t.send({ w: 7 }, 'q')
    t.to(1000)
    t.send({ v: 1 })
    expect(last(t, 'own')).toEqual({ resource: 'q', w: 7 })
  })

  it('with a resource that has nothing valid sees the message that began it', async () => {
    const t = await live(chain)
    t.send({ w: 7 }, 'q')
    t.to(60_000)
    t.send({ v: 1 })
    expect(last(t, 'own')).toEqual({ resource: 'r', v: 1 })
  })

  it('after a long wait still sees the message that began it', async () => {
    const t = await live(chain, { script: (plugs) => plugs.say('free', { state: 'On', after: 120_000 }) })
    t.send({ v: 1 })
    t.to(120_000)
    expect(last(t, 'act')).toEqual({ resource: 'r', v: 1 })
  })
})

describe('the data of nodes', () => {
  it('is what each gave last, with its state and time; GLOBAL is the stream', async () => {
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

  it('of actuators is what they answered last', async () => {
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
