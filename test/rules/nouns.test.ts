import { describe, expect, expectTypeOf, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import type { Rule } from '../../src/core/rule/rule.ts'
import { validateRule } from '../../src/core/rule/validate.ts'
import { type Message, simulate } from '../../src/index.ts'
import {
  act,
  alarm,
  all,
  any,
  type Condition,
  count,
  group,
  log,
  type NumberMetric,
  rule,
  says,
  sense,
  seq,
  thing,
} from '../../src/rules/index.ts'

interface Boiler {
  temperature: number
  pump: boolean
  counter: number
  event: 'A' | 'B' | 'C'
  setpoint?: number
}

const registry = createRegistry(builtins)
const boiler = thing<Boiler>()
const { temperature: t } = boiler
const on = { begins: log`on`, ends: log`off` }

const NEEDS: Readonly<Record<string, Rule>> = {
  hot: rule('hot', t.above(80, { for: '2m', until: t.below(75, { for: '2m' }) }), on),
  band: rule('band', t.above(80, { until: t.below(75) }), on),
  several: rule(
    'several',
    group<Boiler>({ type: 'pump' })
      .where((p) => p.temperature.above(90))
      .count({ atLeast: 3, within: '5m' }),
    { begins: alarm('SEVERAL') },
  ),
  sneak: rule(
    'sneak',
    seq(boiler.event.is('A'), boiler.event.is('B'), { within: '5m', without: boiler.event.is('C') }),
    on,
  ),
  fast: rule('fast', t.change('10m').abs.above(5), on),
  fouled: rule('fouled', thing<Boiler>('in').temperature.minus(thing<Boiler>('out').temperature).abs.above(5), on),
  office: rule('office', all(t.above(90), sense('isWeekday', { timeZone: 'Europe/Brussels' }).is('TRUE')), on),
  still: rule('still', t.above(90, { for: '5m', downtime: 'confirm' }), on),
  cycles: rule('cycles', boiler.pump.is(true).times('1d').above(20), on),
  silent: rule('silent', group<Boiler>({ type: 'meter' }).where((m) => m.silent('10m')).each, {
    begins: alarm('SILENT'),
    many: [50, alarm('OUTAGE')],
  }),
  use: rule('use', boiler.counter.increase({ wraps: 65_536, over: '1h' }).above(3000), {
    begins: alarm('USE', { text: says`${boiler.counter}`, severity: 'MAJOR' }),
  }),
  off: rule('off', t.minus(boiler.setpoint.hold('2h')).abs.above(3), { ...on, atMostEvery: '5m' }),
  mean: rule('mean', t.deadband(1).timeWeightedMean('10m').above(80), { ...on, atMostEvery: '5m' }),
  longTime: rule('time', any(boiler.pump.is(true).time('m', '1h').above(30), t.silent('1h')), {
    begins: act('storeMessage', { payload: { tired: true } }),
  }),
  counted: rule(
    'counted',
    count({ atLeast: 2 }, t.above(1), t.above(2), boiler.pump.isNot(false).debounced('10s')),
    on,
  ),
}

/** Runs a rule over messages at these minutes; returns the minutes at which its actuators fired. */
async function firings(made: Rule, messages: readonly (readonly [minute: number, message: object])[], resource = 'r') {
  const start = Date.UTC(2026, 2, 2)
  const sent = messages.map(([minute, one]): Message => ({ resource, timestamp: start + minute * 60_000, ...one }))
  const run = await simulate(made, { plugs: builtins, resource, from: start, until: start + 3_600_000, messages: sent })
  expect(run.events.filter((one) => one.type === 'failed')).toEqual([])
  return run.events.flatMap((one) =>
    one.type === 'result' && one.message !== undefined ? [[(one.time - start) / 60_000, one.message]] : [],
  )
}
const made = (name: string): Rule => {
  const found = NEEDS[name]
  if (found === undefined) throw new Error(name)
  return found
}

describe('rules of nouns', () => {
  it.each(Object.entries(NEEDS))('%s is a valid rule, and prints its JSON', (_, one) => {
    const issues = validateRule(one, registry).issues
    expect(issues.filter(({ severity }) => severity !== 'INFO')).toEqual([])
    expect(JSON.parse(JSON.stringify(one))).toEqual(one)
  })

  it('knows the types of values', () => {
    expectTypeOf(t).toEqualTypeOf<NumberMetric>()
    expectTypeOf(t.above(3)).toEqualTypeOf<Condition>()
    expectTypeOf(boiler.event.is).parameter(0).toEqualTypeOf<'A' | 'B' | 'C'>()
    expectTypeOf(boiler.pump.is).parameter(0).toEqualTypeOf<boolean>()
    expectTypeOf(boiler.setpoint).toEqualTypeOf<NumberMetric>()
  })

  it('begin and end after their durations', async () => {
    const at = await firings(made('hot'), [
      [0, { temperature: 85 }],
      [1, { temperature: 70 }],
      [2, { temperature: 85 }],
      [10, { temperature: 74 }],
      [11, { temperature: 76 }],
      [20, { temperature: 74 }],
    ])
    expect(at).toEqual([
      [4, 'on'],
      [22, 'off'],
    ])
  })

  it('with two limits of one value are a hysteresis', async () => {
    expect(made('band').sensors).toMatchObject([{ name: 'hysteresis', properties: { enter: 80, leave: 75 } }])
    const temperatures = [70, 81, 78, 81, 74, 81].map((temperature, i) => [i, { temperature }] as const)
    expect(await firings(made('band'), temperatures)).toEqual([
      [1, 'on'],
      [4, 'off'],
      [5, 'on'],
    ])
  })

  it('begin when one thing follows another in time, and not if a third was between', async () => {
    const events = [
      [0, 'A'],
      [4, 'B'],
      [10, 'A'],
      [11, 'C'],
      [12, 'B'],
      [20, 'A'],
      [26, 'B'],
      [30, 'A'],
      [31, 'A'],
      [35, 'B'],
    ] as const
    const at = await firings(
      made('sneak'),
      events.map(([minute, event]) => [minute, { event }]),
    )
    expect(at.filter(([, word]) => word === 'on')).toEqual([
      [4, 'on'],
      [35, 'on'],
    ])
  })

  it('hold a slow value beside a fast one', async () => {
    expect(made('off').sensors).toMatchObject([{ name: 'condition', resource: '$', hold: { setpoint: '2h' } }])
    const at = await firings(made('off'), [
      [0, { setpoint: 20 }],
      [50, { temperature: 21 }],
      [55, { temperature: 24 }],
    ])
    expect(at).toEqual([[55, 'on']])
  })

  it('reject two durations of one value in a condition', () => {
    const both = t.hold('1h').minus(boiler.setpoint).minus(t.hold('2h'))
    expect(() => rule('both', both.above(1), on)).toThrow(
      'hold of temperature is 1h and 2h in one condition; write one of them',
    )
    expectTypeOf(boiler.event.default).parameter(0).toEqualTypeOf<'A' | 'B' | 'C'>()
  })

  it('compare values of two things', async () => {
    const both = made('fouled')
    const start = Date.UTC(2026, 2, 2)
    const run = await simulate(both, {
      plugs: builtins,
      from: start,
      until: start + 600_000,
      messages: [
        { resource: 'in', timestamp: start, temperature: 80 },
        { resource: 'out', timestamp: start + 60_000, temperature: 78 },
        { resource: 'out', timestamp: start + 120_000, temperature: 70 },
        { resource: 'in', timestamp: start + 180_000, temperature: 71 },
      ],
    })
    expect(both.sensors?.map(({ name }) => name)).toEqual(['measure', 'measure', 'condition'])
    const fired = run.events.flatMap((one) =>
      one.type === 'fired' && one.node.startsWith('log') ? [[one.node, (one.time - start) / 60_000]] : [],
    )
    expect(fired).toEqual([
      ['log', 2],
      ['log_2', 3],
    ])
  })

  it.each<[string, readonly (readonly [number, object])[], readonly number[]]>([
    [
      'fast',
      [
        [0, { temperature: 20 }],
        [5, { temperature: 24 }],
        [12, { temperature: 26 }],
        [14, { temperature: 24 }],
      ],
      [12],
    ],
    [
      'use',
      [
        [0, { counter: 64_000 }],
        [10, { counter: 1000 }],
        [20, { counter: 1500 }],
        [59, { counter: 1600 }],
      ],
      [20],
    ],
    [
      'mean',
      [
        [0, { temperature: 70 }],
        [1, { temperature: 70.5 }],
        [2, { temperature: 90 }],
        [9, { temperature: 90.9 }],
      ],
      [9],
    ],
  ])('%s equals a reading by hand', async (name, messages, minutes) => {
    const begins = { begins: log`on` }
    const rules: Readonly<Record<string, Rule>> = {
      fast: rule('fast', t.change('10m').abs.above(5), begins),
      use: rule('use', boiler.counter.increase({ wraps: 65_536, over: '1h' }).above(3000), begins),
      mean: rule('mean', t.deadband(1).timeWeightedMean('10m').above(80), begins),
    }
    expect((await firings(rules[name] ?? {}, messages)).map(([minute]) => minute)).toEqual(minutes)
  })

  it('show values in texts', async () => {
    const spoken = rule('spoken', t.above(80), { begins: log`${t} after ${t.minus(1).previous}` })
    expect(
      await firings(spoken, [
        [0, { temperature: 70 }],
        [1, { temperature: 90 }],
      ]),
    ).toEqual([[1, '90 after 69']])
  })

  it('share equal nodes', () => {
    const one = t.mean('5m')
    const made = rule('twice', all(one.above(1), one.below(9)), on)
    expect(made.sensors?.map(({ name }) => name)).toEqual(['windowStats', 'condition', 'condition'])
  })
})
