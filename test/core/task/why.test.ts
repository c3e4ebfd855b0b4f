import { describe, expect, it } from 'vitest'
import { live } from '../../support/live-engine.ts'
import { gate, general, is, on, rule, trigger, turns } from '../../support/rule-writing.ts'

describe('the why of a firing', () => {
  it('leads from the message through sensors and gates to the trigger, each node once', async () => {
    const t = await live(
      rule({
        sensors: { a: on('switch'), b: on('band', { resource: 'q' }), unseen: 'switch' },
        actuators: ['act'],
        relations: [
          gate('top', 'AND', ['low', 'TRUE'], ['odd', 'TRUE'], ['b', 'Above']),
          gate('low', 'OR', ['a', 'On'], ['unseen', 'On']),
          general('odd', ['a', 'b'], ['On', 'Above'], ['On', 'In']),
        ],
        triggers: [trigger('top', 'act', turns('*', 'TRUE'))],
      }),
    )
    t.to(5)
    t.send({ a: 'On', v: 1 })
    t.to(9)
    t.send({ b: 'Above', v: 2 }, 'q')
    expect(t.firings()[0]?.why).toEqual({
      input: { kind: 'data', time: 9, resource: 'q', values: { resource: 'q', b: 'Above', v: 2 } },
      trigger: { source: 'top', destination: 'act', matched: 'change', from: null, to: 'TRUE' },
      sensors: [
        {
          node: 'a',
          state: 'On',
          since: 5,
          input: { kind: 'data', time: 5, resource: 'r', values: { resource: 'r', a: 'On', v: 1 } },
        },
        {
          node: 'b',
          state: 'Above',
          since: 9,
          input: { kind: 'data', time: 9, resource: 'q', values: { resource: 'q', b: 'Above', v: 2 } },
        },
        { node: 'unseen', state: null },
      ],
      gates: [
        { node: 'low', type: 'OR', state: 'TRUE', row: { a: 'On', unseen: null } },
        { node: 'odd', type: 'GENERAL', state: 'TRUE', row: { a: 'On', b: 'Above' } },
        { node: 'top', type: 'AND', state: 'TRUE', row: { low: 'TRUE', odd: 'TRUE', b: 'Above' } },
      ],
    })
  })

  it.each([
    ['state', { ...is('On'), ...turns('Off', 'On') }],
    ['change', { ...is('Off'), ...turns('Off', 'On') }],
    ['execution', {}],
  ])('reports that its %s satisfied the trigger', async (matched, condition) => {
    const t = await live(
      rule({ sensors: { s: 'switch' }, actuators: ['act'], triggers: [trigger('s', 'act', condition)] }),
    )
    t.task.push('s', { state: 'Off' })
    t.task.push('s', { state: 'On' })
    expect(t.firings().at(-1)?.why?.trigger).toMatchObject({ matched, from: 'Off', to: 'On' })
  })

  it('lists the triggers that led to the source, the first one first', async () => {
    const t = await live(
      rule({
        sensors: { a: on('switch'), b: 'switch', c: 'switch' },
        actuators: ['act'],
        triggers: [trigger('a', 'b'), trigger('b', 'c'), trigger('c', 'act')],
      }),
      { script: (plugs) => plugs.say('b', { state: 'On', after: 300 }) },
    )
    t.send({ v: 1 })
    t.to(1000)
    const { why } = t.firings().at(-1) ?? {}
    expect(why?.via).toEqual([
      { source: 'a', destination: 'b', time: 0 },
      { source: 'b', destination: 'c', time: 300 },
    ])
    expect(why?.input).toMatchObject({ kind: 'data', time: 0 })
    expect(Object.keys(why ?? {}).at(-1)).toBe('via')
    // each step is created once, for any length of the chain behind it
    expect(why?.via?.[0]).toBe(t.firings().at(-2)?.why?.via?.[0])
    expect(why?.via).toBe(why?.via)
  })

  it.each<[string, (t: Awaited<ReturnType<typeof live>>) => void, object]>([
    ['a tick', (t) => t.to(1000), { kind: 'tick', time: 1000, scheduledAt: 1000 }],
    ['a push', (t) => t.task.push('s', { state: 'On' }), { kind: 'push', time: 0, node: 's' }],
    ['a manual run', (t) => t.task.run('s'), { kind: 'run', time: 0, node: 's' }],
    ['an own tick', (t) => t.to(700), { kind: 'ownTick', time: 700, node: 'p', scheduledAt: 700 }],
  ])('reports that it began with %s', async (_, act, input) => {
    const t = await live(
      rule({
        sensors: { s: 'switch', p: { name: 'switch', pollingPeriod: 700 } },
        actuators: ['act'],
        triggers: [trigger('s', 'act'), trigger('p', 'act')],
        task: { type: 'periodic', frequency: 1000 },
      }),
    )
    t.clear()
    act(t)
    expect(t.firings().at(-1)?.why?.input).toEqual(input)
  })

  it('keeps the start of a state through repeated observations', async () => {
    const t = await live(rule({ sensors: { s: on('switch') }, actuators: ['act'], triggers: [trigger('s', 'act')] }))
    for (const [time, s] of [
      [0, 'Off'],
      [10, 'On'],
      [20, 'On'],
      [30, 'On'],
    ] as const) {
      t.to(time)
      t.send({ s })
    }
    expect(t.firings().map(({ why }) => why?.sensors[0]?.since)).toEqual([0, 10, 10, 10])
  })

  it('shows the states at the time of the firing, not later ones', async () => {
    const t = await live(
      rule({ sensors: { s: 'switch' }, actuators: ['act'], triggers: [trigger('s', 'act', is('On'))] }),
    )
    t.task.push('s', { state: 'On' })
    t.task.push('s', { state: 'Off' })
    expect(t.task.explain('act').fired?.why.sensors[0]?.state).toBe('On')
  })

  it('is omitted from events if so configured, but explain still returns it', async () => {
    const t = await live(rule({ sensors: { s: 'switch' }, actuators: ['act'], triggers: [trigger('s', 'act')] }), {
      why: false,
    })
    t.task.push('s', { state: 'On' })
    expect(t.firings()[0]).not.toHaveProperty('why')
    expect(t.task.explain('act').fired?.why.trigger.source).toBe('s')
  })
})
