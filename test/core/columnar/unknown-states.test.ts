import { describe, expect, it } from 'vitest'
import type { Rule, Sensor } from '../../../src/core/rule/rule.ts'
import { asPlain, START, type Values } from '../../support/rows-beside-plain.ts'

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

  it('fail in a row when a mandatory number is missing', async () => {
    await expectInRows(alone, [{ a: null }, { a: 30 }, { a: Number.NaN }, { a: 30 }, { a: 4 }])
  })

  it('are called when it is optional, or when others read their last result', async () => {
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
