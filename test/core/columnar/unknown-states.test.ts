import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { CoreEngine } from '../../../src/core/engine/engine.ts'
import type { LiveTask } from '../../../src/core/engine/live-task.ts'
import type { Rule, Sensor } from '../../../src/core/rule/rule.ts'
import { definePlug, VirtualClock } from '../../../src/index.ts'
import { actPlug } from '../../support/act-plug.ts'
import { rowOf } from '../../support/row-of.ts'
import { generate } from '../../support/generate.ts'
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
async function played(rule: Rule, messages: readonly Values[], hasRows: boolean, looksAfter: number) {
  const clock = new VirtualClock(0)
  const fired: string[] = []
  const act = actPlug(fired)
  const engine = new CoreEngine({
    plugs: [...builtins, scale, optional, act],
    scheduler: clock,
    ids: () => 'unused',
    seed: 1,
    generate,
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
  const plain = await played(rule, messages, false, looksAfter)
  const rows = await played(rule, messages, true, looksAfter)
  expect(rows.did).toEqual(plain.did)
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
