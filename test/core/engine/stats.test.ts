import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { CoreEngine } from '../../../src/core/engine/engine.ts'
import { noPlainCounts, type PlainReason } from '../../../src/core/engine/stats.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { createEngine, VirtualClock, type Engine, type Message } from '../../../src/index.ts'
import { actuatorPlug } from '../../support/make-plug.ts'

const act = actuatorPlug('act', (context) => {
  if (context.streamValue('fails') === true) throw new Error('broken')
})

function rule(threshold = 20, resource = 'r'): Rule {
  return {
    sensors: [{ label: 's', resource, name: 'streamingDataSensor', properties: { parameter: 'a', threshold } }],
    actuators: [{ label: 'act', name: 'act' }],
    triggers: [{ sourceLabel: 's', destinationLabel: 'act', statesTrigger: ['Above'] }],
  }
}

function engine(): Engine {
  return createEngine({ plugs: [...builtins, act], scheduler: new VirtualClock(1000), seed: 1 })
}

function send(to: Engine, count: number, more: Partial<Message> = {}): void {
  for (let i = 0; i < count; i++) to.receive({ resource: 'r', a: 10, ...more })
}

/** The counted reasons. */
function why(of: Engine): Partial<Record<PlainReason, number>> {
  return Object.fromEntries(Object.entries(of.stats().why).filter(([, count]) => count > 0))
}

describe('the stats of an engine', () => {
  it('are 0 at first, with every reason', () => {
    const { vectorized, rows, plain, why: reasons } = engine().stats()
    expect([vectorized, rows, plain]).toEqual([0, 0, 0])
    expect(Object.keys(reasons)).toEqual(Object.keys(noPlainCounts()))
  })

  it('count each message once per task, by path', async () => {
    const of = engine()
    for (let i = 0; i < 10; i++) await of.start(rule(i), { id: `t${i}` })
    send(of, 100)
    const { vectorized, rows, plain } = of.stats()
    expect(vectorized + rows + plain).toBe(1000)
    expect(vectorized).toBeGreaterThan(500)
    expect(rows).toBeGreaterThan(100)
    expect(why(of)).toEqual({ first: plain })
  })

  it.each([
    ['one task', 1],
    ['several tasks', 3],
    ['many tasks', 10],
  ])('count messages whose timestamp is their arrival in the rows of %s', async (_, tasks) => {
    const clock = new VirtualClock(1000)
    const of = createEngine({ plugs: [...builtins, act], scheduler: clock, seed: 1 })
    for (let i = 0; i < tasks; i++) await of.start(rule(i), { id: `t${i}` })
    for (let i = 0; i < 100; i++) {
      clock.advanceTo(clock.now() + 1)
      of.receive({ resource: 'r', a: 10, timestamp: i % 2 === 0 ? clock.now() : new Date(clock.now()).toISOString() })
    }
    const { vectorized, rows, plain } = of.stats()
    expect([vectorized + rows, plain]).toEqual([99 * tasks, tasks])
    const before = of.stats()
    of.receive({ resource: 'r', a: 10, timestamp: clock.now() - 1 })
    of.receive({ resource: 'r', a: 10, timestamp: clock.now() })
    of.receive({ resource: 'r', a: 10, timestamp: 'yesterday' })
    expect(of.stats().plain).toBe(before.plain + 3 * tasks)
  })

  it('state why messages use the general path', async () => {
    const of = engine()
    await of.start(rule(), { id: 't' })
    send(of, 10)
    const { plain: first } = of.stats()
    expect(why(of)).toEqual({ first })

    const listening = of.events$.subscribe(() => undefined)
    send(of, 2)
    listening.unsubscribe()
    expect(why(of)).toMatchObject({ heard: 2 })

    of.receive([{ resource: 'r', a: 1 }])
    of.receive([
      { resource: 'r', a: 1 },
      { resource: 'r', a: 2 },
    ])
    of.receive({ resource: 'r', a: 3 }, { hops: 1 })
    expect(why(of)).toMatchObject({ heard: 2, sent: 4 })
  })

  it('count a message as plain if a row began it but could not finish it', async () => {
    const of = engine()
    await of.start(rule(), { id: 't' })
    send(of, 10, { fails: false })
    const before = of.stats()
    send(of, 1, { a: 30, fails: true })
    expect(why(of)['answer']).toBe(1)
    expect(of.stats().rows).toBe(before.rows)
    send(of, 1, { fails: false })
    expect(of.stats().rows).toBe(before.rows + 1)
  })

  it('count such a message of a vectorized batch', async () => {
    const of = engine()
    for (let i = 0; i < 10; i++) await of.start(rule(i), { id: `t${i}` })
    send(of, 100, { a: 0, fails: false })
    send(of, 1, { a: 30, fails: true })
    const { vectorized, rows, plain, why: reasons } = of.stats()
    expect(vectorized + rows + plain).toBe(1010)
    expect(reasons.answer).toBe(10)
  })

  it.each([
    ['logs', 'a program', {}],
    ['logs', 'a history', { history: { perTask: 100 } }],
    ['logs', 'a host', { history: { perTask: 100 }, onRare: () => undefined }],
    ['waits', 'a program', {}],
    ['waits', 'a host', { history: { perTask: 100 }, onRare: () => undefined }],
  ])('count messages in rows whose actuator %s, in %s', async (name, _, options) => {
    const plugs = [actuatorPlug('logs', ({ log }) => log.info('fired')), actuatorPlug('waits', () => Promise.resolve())]
    const of = createEngine({ plugs: [...builtins, ...plugs], scheduler: new VirtualClock(1000), seed: 1, ...options })
    await of.start({ ...rule(), actuators: [{ label: 'act', name }] }, { id: 't' })
    for (let i = 0; i < 20; i++) send(of, 2, { a: 30 - 20 * (i % 2) })
    expect(why(of)).toEqual({ first: 1 })
    await of.settled()
    expect(of.stats().rows).toBe(39)
  })

  it('report rules that rows cannot represent', async () => {
    const of = engine()
    const { sensors = [], ...rest } = rule()
    await of.start({ ...rest, sensors: sensors.map((one) => ({ ...one, evictionTime: 60 })) }, { id: 't' })
    send(of, 5)
    expect(why(of)).toEqual({ shape: 5 })
  })

  it('report rules whose every call must be requested', async () => {
    const of = new CoreEngine({
      plugs: [...builtins, act],
      scheduler: new VirtualClock(1000),
      ids: () => 't',
      seed: 1,
      latency: () => 0,
    })
    await of.start(rule())
    send(of, 3)
    expect(why(of)).toEqual({ asked: 3 })
  })
})
