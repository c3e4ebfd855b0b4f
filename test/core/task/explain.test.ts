import { describe, expect, it } from 'vitest'
import type { Trigger } from '../../../src/core/rule/rule.ts'
import type { Way } from '../../../src/core/task/ways.ts'
import { live, promisesSettled, restarted, type Live } from '../../support/live-engine.ts'
import { atMostEvery, gate, is, on, rule, trigger, turns } from '../../support/rule-writing.ts'
import { LATER } from '../../support/scripted-plugs.ts'

/** One trigger from `s` (Off, On; evicted after 60 s) to `act`. */
function watched(...conditions: readonly Partial<Trigger>[]): Promise<Live> {
  return live(
    rule({
      sensors: { s: on('switch', { evictionTime: 60_000 }) },
      actuators: ['act'],
      triggers: [trigger('s', 'act', ...conditions)],
      task: { resetObservations: false },
    }),
  )
}

const only = (t: Live, node = 'act') => t.task.explain(node).triggers[0]

describe('the obstacle of a trigger', () => {
  it('never executed: its sensor has not run yet, since the start of the task', async () => {
    const t = await watched(is('On'))
    t.to(100)
    expect(t.task.explain('act')).toEqual({
      node: 'act',
      kind: 'actuator',
      time: 100,
      fired: null,
      triggers: [
        {
          source: 's',
          condition: 's is On',
          blocked: [{ reason: 'never executed', node: 's', message: 's has not run yet', since: 0 }],
          needs: [{ node: 's', state: 'On' }],
          ways: [{ states: [{ node: 's', state: 'On' }] }],
        },
      ],
    })
  })

  it('state: its sensor is in another one, since that began', async () => {
    const t = await watched(is('On'))
    t.to(50)
    t.send({ s: 'Off' })
    t.to(80)
    t.send({ s: 'Off' })
    expect(only(t)?.blocked).toEqual([{ reason: 'state', node: 's', message: 's is Off', since: 50 }])
  })

  it('unknown: its observation was evicted', async () => {
    const t = await watched(is('On'))
    t.send({ s: 'Off' })
    t.to(100_000)
    expect(only(t)?.blocked).toEqual([{ reason: 'unknown', node: 's', message: 's has no state', since: 60_000 }])
  })

  it('unchanged: it has the state, but had it before', async () => {
    const t = await watched(turns('*', 'On'))
    t.send({ s: 'On' })
    t.to(10)
    t.send({ s: 'On' })
    expect(only(t)).toMatchObject({
      condition: 's changes from * to On',
      blocked: [{ reason: 'unchanged', node: 's', message: 's is On as before; it fires on a change', since: 0 }],
      needs: null,
    })
  })

  it.each([
    [
      'a sensor',
      rule({ sensors: { s: on('switch') }, actuators: ['act'], triggers: [trigger('s', 'act', turns('*', 'On'))] }),
    ],
    [
      'a relation',
      rule({
        sensors: { s: on('switch') },
        relations: [gate('g', 'AND', ['s', 'On'])],
        actuators: ['act'],
        triggers: [trigger('g', 'act', turns('*', 'TRUE'))],
      }),
    ],
  ])('unchanged, until a message renews the observation: %s that a push left unchanged', async (_, given) => {
    const t = await live(given)
    t.send({ s: 'On' })
    t.task.push('s', { state: 'On' })
    t.to(1)
    expect(t.fired()).toHaveLength(1)
    expect(only(t)).toMatchObject({
      blocked: [{ reason: 'unchanged' }],
      needs: [{ node: 's', state: 'On' }],
      ways: [{ states: [{ node: 's', state: 'On' }] }],
    })
    t.send({ s: 'On' })
    expect(t.fired()).toHaveLength(2)
  })

  it('state: it changed from a state other than the trigger requires', async () => {
    const t = await watched(turns('Off', 'On'))
    t.send({ s: 'On' })
    expect(only(t)?.blocked).toEqual([
      { reason: 'state', node: 's', message: 's came from unknown, not from Off', since: 0 },
    ])
  })

  it('cool-down: the destination fired recently', async () => {
    const t = await watched(is('On'), atMostEvery(10))
    t.send({ s: 'On' })
    expect(only(t)?.blocked).toEqual([])
    t.to(4000)
    t.send({ s: 'On' })
    expect(only(t)?.blocked).toEqual([
      {
        reason: 'cool-down',
        node: 'act',
        message: 'act fired and does not fire again within 10 s',
        since: 0,
        until: 10_000,
      },
    ])
    expect(only(t)?.needs).toEqual([])
    t.to(10_000)
    expect(only(t)?.blocked).toEqual([])
  })

  it('cool-down, even if a second observation arrived at the time of the firing', async () => {
    const t = await watched(is('On'), atMostEvery(10))
    t.send({ s: 'On' })
    t.send({ s: 'On' })
    expect(only(t)?.blocked.map(({ reason }) => reason)).toEqual(['cool-down'])
  })

  it('cool-down, even while the task is behind: it follows the time of the current input', async () => {
    const t = await live(
      rule({
        sensors: { s: on('switch'), slow: { name: 'late', resource: 'q' } },
        actuators: ['act'],
        triggers: [trigger('s', 'act', is('On'), atMostEvery(10))],
      }),
    )
    t.send({ s: 'On' })
    t.to(1000)
    t.send({}, 'q')
    t.to(2000)
    t.send({ s: 'On' })
    t.to(15_000)
    expect(t.task.explain('act').behind).toEqual({ since: 1000, inputs: 1 })
    expect(only(t)?.blocked).toMatchObject([{ reason: 'cool-down', since: 0, until: 10_000 }])
    t.plugs.settle('slow', 'On')
    await promisesSettled()
    expect(t.lines('fired', 'held')).toEqual(['0 fired s>act', '2000 held s>act invocationPolicy'])
    expect(only(t)?.blocked).toEqual([])
  })

  it('error: its sensor failed, with the text and the time', async () => {
    const t = await watched(is('On'))
    t.plugs.say('s', new Error('no air'))
    t.to(7)
    t.send({})
    expect(only(t)?.blocked).toEqual([{ reason: 'error', node: 's', message: 's failed: no air', since: 7 }])
  })

  it('error and state: it failed, and its previous state does not match', async () => {
    const t = await watched(is('On'))
    t.send({ s: 'Off' })
    t.plugs.say('s', new Error('no air'))
    t.send({})
    expect(only(t)?.blocked.map(({ reason }) => reason)).toEqual(['error', 'state'])
  })

  it('overlap: an item of a loop fires the destination while items of its own loop are left', async () => {
    const loop = { loopDef: '[{"n":1},{"n":2}]' }
    const t = await live(
      rule({ sensors: { s: on('switch', loop), d: { name: 'switch', ...loop } }, triggers: [trigger('s', 'd')] }),
    )
    t.to(5)
    t.send({})
    expect(t.lines('fired', 'held')).toEqual(['5 fired s>d', '5 held s>d overlap'])
    expect(t.task.explain('d').triggers[0]?.blocked).toEqual([
      { reason: 'overlap', node: 'd', message: 'the earlier work of d was unfinished', since: 5 },
    ])
  })

  it('none, while the destination is running: an input then waits, and the task is reported as behind', async () => {
    const t = await live(rule({ sensors: { s: 'switch', d: 'late' }, triggers: [trigger('s', 'd')] }))
    t.task.push('s', { state: 'On' })
    t.to(5)
    t.task.push('s', { state: 'On' })
    expect(t.task.explain('d')).toMatchObject({
      time: 5,
      behind: { since: 0, inputs: 1 },
      fired: { time: 0 },
      triggers: [{ source: 's', blocked: [] }],
    })
    t.plugs.settle('d', 'On')
    await promisesSettled()
    expect(t.task.explain('d')).toMatchObject({
      time: 5,
      behind: { since: 5, inputs: 0 },
      fired: { time: 5 },
      triggers: [{ source: 's', blocked: [] }],
    })
    t.plugs.settle('d', 'On')
    await promisesSettled()
    expect(t.task.explain('d')).not.toHaveProperty('behind')
    expect(t.lines('held')).toEqual([])
  })

  it('none, when calls of an actuator wait for earlier ones: they have fired', async () => {
    const t = await live(rule({ sensors: { s: 'switch' }, actuators: ['act'], triggers: [trigger('s', 'act')] }), {
      maxWaiting: 1,
      script: (plugs) => plugs.say('act', LATER),
    })
    for (const time of [0, 10, 20]) {
      t.to(time)
      t.task.push('s', { state: 'On' })
    }
    expect(t.task.explain('act')).toMatchObject({ fired: { time: 20 }, triggers: [{ blocked: [] }] })
    expect(t.task.explain('act')).not.toHaveProperty('behind')
    expect(t.task.info()).toMatchObject({ waiting: { inputs: 0, effects: 1 }, health: { dropped: 1 } })
    expect(t.task.node('act').error).toEqual({
      time: 10,
      message: 'dropped while it waited: 1 later calls wait for earlier calls on the same target',
    })
  })

  it('stopped: the task does not run', async () => {
    const t = await watched(is('On'))
    t.send({ s: 'On' })
    t.to(9)
    await t.engine.stop('t')
    expect(only(t)?.blocked).toEqual([{ reason: 'stopped', node: 'act', message: 'the task is stopped', since: 9 }])
  })
})

describe('the explanation of a gate', () => {
  const gated = rule({
    sensors: { a: 'switch', b: 'switch', c: 'switch' },
    actuators: ['act'],
    relations: [gate('low', 'OR', ['b', 'On'], ['c', 'On']), gate('top', 'AND', ['a', 'On'], ['low', 'TRUE'])],
    triggers: [trigger('top', 'act', is('TRUE'))],
  })

  it('names the sensors that leave it unknown, across all gates', async () => {
    const t = await live(gated)
    t.task.push('a', { state: 'On' })
    t.task.push('b', { rawData: {} })
    expect(only(t)).toMatchObject({
      condition: 'top is TRUE',
      blocked: [
        { reason: 'unknown', node: 'b' },
        { reason: 'never executed', node: 'c' },
      ],
      needs: [{ node: 'b', state: 'On' }],
    })
  })

  it('shows its row when it is certain but does not match', async () => {
    const t = await live(gated)
    t.task.push('a', { state: 'Off' })
    expect(only(t)?.blocked).toMatchObject([
      { reason: 'state', node: 'top', message: 'top is FALSE (AND of a = Off, low unknown)' },
    ])
    expect(only(t)?.needs).toEqual([
      { node: 'a', state: 'On' },
      { node: 'b', state: 'On' },
    ])
  })
})

describe('the ways to fire a trigger', () => {
  const way = (state: string, then?: string): Way => ({
    states: [{ node: 's', state }],
    ...(then !== undefined && { then: [{ node: 's', state: then }] }),
  })

  it.each<[string, Partial<Trigger>, readonly string[], readonly Way[]]>([
    ['each state that it accepts', is('On', 'Off'), [], [way('Off'), way('On')]],
    ['no state, when it has one of them', is('On'), ['On'], []],
    ['leaving the state before it enters it', turns('*', 'On'), ['On', 'On'], [way('Off', 'On')]],
    ['the state before and the state after a change', turns('Off', 'On'), [], [way('Off', 'On')]],
    ['leaving and entering the set of `begins`', { begins: ['On'] }, ['On'], [way('Off', 'On')]],
    ['entering and leaving the set of `ends`', { ends: ['On'] }, ['Off'], [way('On', 'Off')]],
  ])('are %s', async (_, condition, states, ways) => {
    const t = await watched(condition)
    for (const s of states) t.send({ s })
    expect(only(t)?.ways).toEqual(ways)
    const [first] = ways
    const isTwoSteps = first?.then !== undefined
    expect(only(t)?.needs).toEqual(isTwoSteps ? null : (first?.states ?? []))
  })

  it('are limited to 20, with the number of omitted ones', async () => {
    const sensors = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`s${i}`, 'switch']))
    const any = gate('any', 'OR', ...Object.keys(sensors).map((label): [string, string] => [label, 'On']))
    const t = await live(
      rule({ sensors, actuators: ['act'], relations: [any], triggers: [trigger('any', 'act', is('TRUE'))] }),
    )
    expect(only(t)).toMatchObject({ ways: { length: 20 }, waysLeftOut: 10 })
  })
})

describe('the explanation of a state', () => {
  const gated = rule({
    sensors: { a: on('switch'), b: on('switch') },
    actuators: ['act'],
    relations: [gate('both', 'AND', ['a', 'On'], ['b', 'On'])],
    triggers: [trigger('both', 'act', is('TRUE'))],
    task: { resetObservations: false },
  })

  it('of a gate is its row, the readings behind it, and what each other state needs', async () => {
    const t = await live(gated)
    t.to(50)
    t.send({ a: 'On', b: 'Off' })
    expect(t.task.explain('both')).toMatchObject({
      kind: 'gate',
      fired: null,
      triggers: [],
      state: {
        value: 'FALSE',
        since: 50,
        sensors: [
          { node: 'a', state: 'On', since: 50, input: { kind: 'data', values: { a: 'On' } } },
          { node: 'b', state: 'Off' },
        ],
        gates: [{ node: 'both', row: { a: 'On', b: 'Off' } }],
        blocked: [],
        others: [{ state: 'TRUE', ways: [{ states: [{ node: 'b', state: 'On' }] }] }],
      },
    })
  })

  it('of an unknown gate names the sensors that leave it unknown', async () => {
    const t = await live(gated)
    t.task.push('a', { state: 'On' })
    expect(t.task.explain('both').state).toMatchObject({
      value: null,
      blocked: [{ reason: 'never executed', node: 'b' }],
      others: [
        { state: 'TRUE', ways: [{ states: [{ node: 'b', state: 'On' }] }] },
        {
          state: 'FALSE',
          ways: [{ states: [{ node: 'a', state: 'Off' }] }, { states: [{ node: 'b', state: 'Off' }] }],
        },
      ],
    })
  })

  it('of a sensor without triggers is its last reading', async () => {
    const t = await live(gated)
    t.send({ a: 'On', b: 'On' })
    const { state, triggers } = t.task.explain('a')
    expect(triggers).toEqual([])
    expect(state).toMatchObject({ value: 'On', since: 0, sensors: [{ node: 'a', input: { kind: 'data' } }], gates: [] })
    expect(state).not.toHaveProperty('others')
  })

  it('of a sensor that failed or whose task stopped reports it', async () => {
    const t = await live(gated)
    t.plugs.say('a', new Error('no air'))
    t.send({ b: 'On' })
    await t.engine.stop('t')
    expect(t.task.explain('a').state?.blocked.map(({ reason }) => reason)).toEqual(['error', 'stopped'])
  })
})

describe('an explanation', () => {
  it.each<[string, Partial<Trigger>, string]>([
    ['states', is('On', 'Off'), 's is Off or On'],
    ['a change', turns('Off', '*'), 's changes from Off to *'],
    ['either', { ...is('On'), ...turns('*', 'Off') }, 's is On, or s changes from * to Off'],
    ['nothing', {}, 's ran'],
  ])('describes that a trigger waits for %s', async (_, condition, expected) => {
    expect(only(await watched(condition))?.condition).toBe(expected)
  })

  it('of an unknown node is rejected, with the existing nodes', async () => {
    const t = await watched(is('On'))
    const refused = { code: 'NOT_FOUND', message: 'task t has no node x; it has s, act' }
    expect(() => t.task.explain('x')).toThrow(expect.objectContaining(refused))
  })

  it('is equal after a restart', async () => {
    const t = await watched(is('On'), atMostEvery(3600))
    t.send({ s: 'On', v: Number.NaN })
    t.to(5000)
    t.send({ s: 'On' })
    const before = t.task.explain('act')
    expect(before.fired?.why.sensors[0]?.input?.values).toMatchObject({ v: Number.NaN })
    expect((await restarted(t)).task.explain('act')).toEqual(before)
  })
})
