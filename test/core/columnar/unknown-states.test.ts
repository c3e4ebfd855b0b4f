import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { CoreEngine } from '../../../src/core/engine/engine.ts'
import type { LiveTask } from '../../../src/core/engine/live-task.ts'
import type { Rule, Sensor } from '../../../src/core/rule/rule.ts'
import { definePlug, VirtualClock } from '../../../src/index.ts'
import { actPlug } from '../../support/act-plug.ts'
import { rowOf } from '../../support/row-of.ts'
import { scale } from '../../support/scale-plug.ts'

type Values = Readonly<Record<string, unknown>>

/** A number that need not be there. */
const optional = definePlug({
  name: 'optional',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Low', 'High'],
  parameters: [],
  input: { value: { type: 'double' }, limit: { type: 'double', mandatory: true } },
  output: { value: { type: 'double' } },
  calculates: { rawData: { value: 'value + 1' }, states: { High: 'value > limit' }, otherwise: 'Low' },
  execute({ properties: { value, limit } }) {
    return { state: value === undefined || value > limit ? 'High' : 'Low', rawData: { value: (value ?? 0) + 1 } }
  },
})

const scaling = (label: string, value: string, more: Partial<Sensor> = { resource: 'r' }): Sensor => {
  return { label, name: 'scale', ...more, properties: { value, factor: 2, limit: 50 } }
}
const NEXT = '${nodes.first.rawData.value}'
const LAST = '${nodes.next.rawData.value}'

/** Three sensors, each run by the one before; the last one fires. */
const CHAIN: Rule = {
  sensors: [scaling('first', '${streamdata.a}'), scaling('next', NEXT, {}), scaling('last', LAST, {})],
  actuators: [{ label: 'act', name: 'act' }],
  triggers: [
    { sourceLabel: 'first', destinationLabel: 'next' },
    { sourceLabel: 'next', destinationLabel: 'last' },
    { sourceLabel: 'last', destinationLabel: 'act', statesTrigger: ['High'] },
  ],
}

/** What a rule does with messages, a second apart, by rows or without them. `looksAfter`: after how many somebody looks once. */
async function played(
  rule: Rule,
  messages: readonly Values[],
  hasRows: boolean,
  generates: boolean,
  looksAfter: number,
) {
  const clock = new VirtualClock(0)
  const fired: string[] = []
  const act = actPlug(fired)
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the same that the library does
  const generate = (parameters: readonly string[], body: string) => new Function(...parameters, body) as () => unknown
  const engine = new CoreEngine({
    plugs: [...builtins, scale, optional, act],
    scheduler: clock,
    ids: () => 'unused',
    seed: 1,
    ...(generates && { generate }),
    // an executor that can hold answers back has no rows
    ...(!hasRows && { latency: () => 0 }),
  })
  const task = (await engine.start(rule, { id: 't' })) as LiveTask
  for (const [i, values] of messages.entries()) {
    clock.advanceTo(clock.now() + 1000)
    engine.receive({ resource: 'r', ...values })
    if (i + 1 === looksAfter) task.save()
  }
  const { counts } = engine
  const hasRow = rowOf(task) !== undefined
  const { why } = engine.stats()
  const did = { fired, saved: JSON.stringify(task.save()), explained: task.explain('act'), counts }
  await engine.close()
  return { did, hasRow, why, fired }
}

/** The same by rows as without; quietly as rows. */
async function asPlain(rule: Rule, messages: readonly Values[], looksAfter = -1) {
  const plain = await played(rule, messages, false, true, looksAfter)
  const interpreted = await played(rule, messages, true, false, looksAfter)
  expect(interpreted.did).toEqual(plain.did)
  const rows = await played(rule, messages, true, true, looksAfter)
  expect(rows.did).toEqual(plain.did)
  expect(rows.why).toEqual(interpreted.why)
  return rows
}

const START = [
  { a: 1, b: 1 },
  { a: 2, b: 2 },
  { a: 3, b: 3 },
]

/** Whenever somebody looks, and with whichever message it ends. */
async function expectInRows(rule: Rule, messages: readonly Values[]): Promise<void> {
  for (let last = 1; last <= messages.length; last++) {
    const all = [...START, ...messages.slice(0, last)]
    for (let looksAfter = START.length - 1; looksAfter < all.length; looksAfter++) {
      const { hasRow, why } = await asPlain(rule, all, looksAfter)
      expect(why.value).toBe(0)
      expect(hasRow).toBe(true)
    }
  }
}

describe('sensors that run others', () => {
  // Holds UNKNOWN-3
  it.each([null, Number.NaN, 'warm', true])('do not run them when they fail by %s, and the row stays', async (odd) => {
    await expectInRows(CHAIN, [{ a: odd }, { a: 30 }, { a: 31 }, { a: 4 }])
  })

  it('fail one time after the other, after and before they fire', async () => {
    await expectInRows(CHAIN, [{ a: 30 }, { a: null }, { a: null }, { a: 30 }, { a: null }, { a: 5 }, { a: 6 }])
  })

  it('fail when they compare, one behind the other', async () => {
    const comparing = ['a', 'b'].map((parameter, i): Sensor => {
      const own = { label: parameter, name: 'streamingDataSensor', properties: { parameter, threshold: 10 } }
      return i === 0 ? { ...own, resource: 'r' } : own
    })
    const triggers = [
      { sourceLabel: 'a', destinationLabel: 'b' },
      { sourceLabel: 'b', destinationLabel: 'act', statesTrigger: ['Above'] },
    ]
    const rule = { ...CHAIN, sensors: comparing, triggers }
    await expectInRows(
      rule,
      [{ a: 30 }, { a: null }, { a: 30 }, { a: null }, { a: 5 }].map((values) => ({ b: 30, ...values })),
    )
  })

  it('fail behind such that do not', async () => {
    const sensors = [scaling('first', '${streamdata.b}'), scaling('next', '${streamdata.a}', {})]
    const rule = { ...CHAIN, sensors: [...sensors, scaling('last', LAST, {})] }
    const odd = [{ a: null }, { a: 30 }, { a: 30, b: 'x' }, { a: 5 }].map((values) => ({ b: 40, ...values }))
    for (let last = 1; last <= odd.length; last++) {
      const { why } = await asPlain(rule, [...START, ...odd.slice(0, last)])
      expect(why.value).toBe(0)
    }
  })

  it('leave gates of others as they were', async () => {
    const rule: Rule = {
      ...CHAIN,
      sensors: [
        ...(CHAIN.sensors ?? []),
        { label: 'other', resource: 'r', name: 'streamingDataSensor', properties: { parameter: 'b', threshold: 10 } },
      ],
      relations: [{ label: 'g', type: 'AND', parentLabels: ['last', 'other'], combinations: [['High', 'Above']] }],
      triggers: [
        ...(CHAIN.triggers ?? []).slice(0, 2),
        { sourceLabel: 'g', destinationLabel: 'act', stateChangeTrigger: { stateFrom: 'FALSE', stateTo: 'TRUE' } },
      ],
    }
    const odd = [
      { a: 30, b: 3 },
      { a: null, b: 30 },
      { a: 30, b: 30 },
      { a: null, b: 3 },
      { a: 5, b: 5 },
    ]
    for (let last = 1; last <= odd.length; last++) {
      for (let looksAfter = 2; looksAfter <= START.length + last; looksAfter++) {
        const { why } = await asPlain(rule, [...START, ...odd.slice(0, last)], looksAfter)
        expect(why.value).toBe(0)
      }
    }
  })

  it('are counted as they ran when somebody listens from then on', async () => {
    const quiet = await told(true)
    expect(quiet.length).toBeGreaterThan(0)
    expect(quiet).toEqual(await told(false))

    async function told(hasRows: boolean): Promise<readonly string[]> {
      const clock = new VirtualClock(0)
      const act = definePlug({ name: 'act', version: '1.0.0', kind: 'actuator', execute: () => undefined })
      // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the same that the library does
      const generate = (names: readonly string[], body: string) => new Function(...names, body) as () => unknown
      const latency = hasRows ? {} : { latency: () => 0 }
      const plugs = [...builtins, scale, act]
      const engine = new CoreEngine({ plugs, scheduler: clock, ids: () => 'unused', seed: 1, generate, ...latency })
      await engine.start(CHAIN, { id: 't' })
      const receive = (values: Values): void => {
        clock.advanceTo(clock.now() + 1000)
        engine.receive({ resource: 'r', ...values })
      }
      for (const values of [...START, { a: null }, { a: 30 }, { a: 4 }, { a: null }, { a: 30 }]) receive(values)
      const events: string[] = []
      engine.events({ types: ['fired'] }).subscribe((event) => events.push(JSON.stringify(event)))
      for (const values of [{ a: 30 }, { a: null }, { a: 30 }]) receive(values)
      await engine.close()
      return events
    }
  })

  it.each([
    ['an actuator that fired just before cools down', [{ a: 30 }, { a: null }, { a: 30 }]],
    ['it is read as a number', [{ a: 3 }, { a: '30' }, { a: 4 }]],
    ['a number that is not finite follows', [{ a: 3 }, { a: 1e308 }, { a: 4 }]],
  ])('leave when %s', async (_, messages) => {
    const [first, next, last] = CHAIN.triggers ?? []
    const rule = { ...CHAIN, triggers: [first, next, { ...last, invocationPolicy: 1.5 }] } as Rule
    const { why } = await asPlain(rule, [...START, ...messages])
    expect(why.value).toBe(1)
  })
})

describe('sensors that calculate', () => {
  const [, ...others] = CHAIN.triggers ?? []
  const alone: Rule = { ...CHAIN, sensors: [scaling('last', '${streamdata.a}')], triggers: others.slice(1) }

  it('fail in a row when a number that must be there is none', async () => {
    await expectInRows(alone, [{ a: null }, { a: 30 }, { a: Number.NaN }, { a: 30 }, { a: 4 }])
  })

  it('keep what they gave last, which they had made of what others gave', async () => {
    const last = scaling('last', LAST)
    const sensors = [
      { ...last, properties: { ...last.properties, limit: '${streamdata.b}' }, sequence: 2 },
      scaling('next', '${streamdata.a}'),
    ]
    await expectInRows({ ...alone, sensors }, [
      { a: 5, b: 30 },
      { a: 6, b: null },
      { a: 7, b: 30 },
      { a: 8, b: 30 },
    ])
  })

  it('are asked when it need not be there, or others read what they gave last', async () => {
    const sensors = [
      { ...scaling('last', '${streamdata.a}'), name: 'optional', properties: { value: '${streamdata.a}', limit: 50 } },
    ]
    const { why } = await asPlain({ ...alone, sensors }, [...START, { a: null }, { a: 4 }])
    expect(why.value).toBe(1)
    const read = { ...alone, sensors: [scaling('next', '${streamdata.a}'), scaling('last', LAST)] }
    const { why: ofRead } = await asPlain(read, [...START, { a: null }, { a: 4 }])
    expect(ofRead.value).toBe(1)
  })
})
