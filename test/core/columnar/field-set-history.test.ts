import { describe, expect, it } from 'vitest'
import { FieldsTable } from '../../../src/core/columnar/message-fields.ts'
import {
  carriedValue,
  firstFieldSets,
  nextFieldSets,
  type FieldSetHistory,
} from '../../../src/core/columnar/field-set-history.ts'
import type { Rule, Sensor } from '../../../src/core/rule/rule.ts'
import type { Message } from '../../../src/index.ts'
import { generate } from '../../support/generate.ts'
import { asPlain, START, type Values } from '../../support/rows-beside-plain.ts'

const TWO: readonly Sensor[] = ['a', 'b'].map((parameter) => {
  return { label: parameter, resource: 'r', name: 'streamingDataSensor', properties: { parameter, threshold: 10 } }
})
const BOTH: Rule = {
  sensors: TWO,
  relations: [{ label: 'g', type: 'AND', parentLabels: ['a', 'b'], combinations: [['Above', 'Above']] }],
  actuators: [{ label: 'act', name: 'act' }],
  triggers: [{ sourceLabel: 'g', destinationLabel: 'act', statesTrigger: ['TRUE'] }],
}

const ON_CHANGE = {
  sourceLabel: 'g',
  destinationLabel: 'act',
  stateChangeTrigger: { stateFrom: 'FALSE', stateTo: 'TRUE' },
}
const CHANGE: Rule = { ...BOTH, triggers: [ON_CHANGE] }

describe('a row', () => {
  // Holds ERA-1
  it('keeps the states of sensors that a message does not run, for any time', async () => {
    const later = Array.from({ length: 100 }, (_, i) => ({ b: i }))
    const { fired, hasRow, rows } = await asPlain(BOTH, [...START, { a: 30 }, ...later])
    expect(hasRow).toBe(true)
    expect(rows).toBeGreaterThan(100)
    expect(fired).toHaveLength(89)
  })

  // Holds ERA-3
  it('uses values of earlier messages for a minute', async () => {
    const { fired, hasRow } = await asPlain(BOTH, [
      ...START,
      { a: 30, b: 30, battery: 5 },
      ...Array.from({ length: 61 }, () => ({ a: 30, b: 30 })),
    ])
    expect(hasRow).toBe(true)
    expect(fired.filter((text) => text.includes('battery'))).toHaveLength(60)
  })

  it.each<[string, readonly Values[]]>([
    ['that stay so', []],
    ['of which one comes again', [{ a: 31 }, { a: 32 }, { b: 33 }]],
    ['until both come', [{ a: 31, b: 32 }, { b: 33 }, { a: 34 }]],
    ['until one brings a field more', [{ a: 31, c: 1 }, { b: 32 }, { a: 33 }, { b: 34 }]],
    ['until one runs nothing', [{ c: 1 }, { a: 31 }, { c: 2 }, { b: 32 }, { a: 33 }]],
    ['until one has no number', [{ a: null }, { b: 32 }, { a: 33, b: 33 }, { a: 34 }, { b: 35 }]],
  ])('accepts alternating metrics, %s', async (_, more) => {
    const turns = Array.from({ length: 24 }, (__, i) => (i % 2 === 0 ? { a: 7 * (i % 5) } : { b: 40 - i }))
    for (const messages of [turns, turns.slice(1)]) {
      const { fired, rows } = await asPlain(BOTH, [...START, ...messages, ...more])
      expect(rows).toBeGreaterThan(20)
      // What fires sees the metric that its message does not have.
      expect(fired.some((text) => text.includes('"a"') && text.includes('"b"'))).toBe(true)
    }
  })

  // Holds ERA-4
  it.each([null, Number.NaN, 'warm'])('accepts %s, and stays columnar', async (odd) => {
    const { hasRow, why } = await asPlain(BOTH, [...START, { a: odd, b: 3 }, { a: 30, b: 30 }, { a: 5, b: 5 }])
    expect(why.value).toBe(0)
    expect(hasRow).toBe(true)
  })

  // Holds UNKNOWN-1
  it.each([
    ['a state', BOTH],
    ['a change', CHANGE],
    ['a change, at most once in ten seconds', { ...CHANGE, triggers: [{ ...ON_CHANGE, invocationPolicy: 10 }] }],
  ])('fires the next message by the earlier gate states: %s', async (_, rule) => {
    const near = [
      { a: 30, b: 3 },
      { a: null, b: 30 },
      { a: 30, b: 31 },
    ]
    const later = [
      { a: 5, b: 5 },
      { a: null, b: 30 },
      { a: 6, b: 30 },
      { a: 7, b: 7 },
    ]
    for (let last = 0; last <= later.length; last++) {
      const { hasRow, why, fired } = await asPlain(rule, [...START, ...near, ...later.slice(0, last)])
      expect(why.value).toBe(0)
      expect(hasRow).toBe(true)
      expect(fired).toHaveLength(1)
    }
  })

  it('passes a message with very many fields to the full state', async () => {
    const { why } = await asPlain(BOTH, [...START, ...Array.from({ length: 18 }, () => ({ a: null, b: 3 }))])
    expect(why.value).toBe(1)
  })

  // Holds UNKNOWN-2
  it('passes a partial message to the full state while a sensor has no state', async () => {
    const { hasRow, why } = await asPlain(BOTH, [...START, { a: null, b: 3 }, { b: 30 }, { a: 5, b: 5 }])
    expect(why.value).toBe(1)
    expect(hasRow).toBe(true)
  })

  // Holds PART-1
  it('leaves the rows on a partial message when triggers run its sensors', async () => {
    const rule: Rule = {
      ...BOTH,
      sensors: [TWO[0] as Sensor, { ...(TWO[1] as Sensor), resource: undefined } as unknown as Sensor],
      triggers: [{ sourceLabel: 'a', destinationLabel: 'b' }, ...(BOTH.triggers ?? [])],
    }
    const sensors = (rule.sensors ?? []).map((one) => JSON.parse(JSON.stringify(one)) as Sensor)
    const { why } = await asPlain({ ...rule, sensors }, [...START, { b: 30 }, { a: 30, b: 30 }])
    expect(why.fields).toBe(1)
  })
})

describe('a field-set history', () => {
  const table = new FieldsTable(generate)

  it('has the fields of its messages, of the first lists and of later ones', () => {
    const names = ['a', 'b', 'c', 'd']
    const lists = Array.from({ length: 16 }, (_, bits) => names.filter((_name, i) => ((bits >> i) & 1) === 1))
    for (const list of [...lists, ...lists.toReversed(), ...lists]) {
      const message = { resource: 'r', ...Object.fromEntries(list.map((name) => [name, 1])) }
      const found = table.of(message)
      expect(found?.names.toSorted()).toEqual(['resource', ...list].toSorted())
      expect(table.of({ ...message, [list[0] ?? 'a']: undefined })).toBeUndefined()
    }
  })

  it('counts more messages than fit into 32 bits', () => {
    const fields = new FieldsTable(generate)
    const [one, other] = [fields.of({ resource: 'r', a: 1 }), fields.of({ resource: 'r', b: 1 })]
    if (one === undefined || other === undefined) throw new Error('a list of fields is missing')
    for (const index of [2 ** 31 - 1, 2 ** 31, 2 ** 40]) {
      const fieldSets = nextFieldSets(firstFieldSets(one), { resource: 'r', a: 1 }, 0, index, other)
      expect([fieldSets.kept?.index, fieldSets.from]).toEqual([index, index + 1])
    }
  })

  /** Of messages one after the other, a second apart. */
  const fieldSetsOf = (messages: readonly Message[]): FieldSetHistory => {
    const [first, ...others] = messages
    let fieldSets = firstFieldSets(table.of(first as Message) ?? expect.fail('no fields'))
    for (const [i, message] of others.entries()) {
      const fields = table.of(message) ?? expect.fail('no fields')
      if (fields !== fieldSets.fields) fieldSets = nextFieldSets(fieldSets, messages[i] as Message, i * 1000, i, fields)
    }
    return fieldSets
  }
  const said = (...values: Values[]): Message[] => values.map((one) => ({ resource: 'r', ...one }))

  it('returns carried values until they expire', () => {
    const fieldSets = fieldSetsOf(said({ a: 1 }, { b: 2 }, { b: 3 }))
    expect(carriedValue(fieldSets, 'a', 500, 1000, -1, null)).toBe(1)
    expect(carriedValue(fieldSets, 'a', 1000, 1000, -1, null)).toBeUndefined()
    expect(carriedValue(fieldSets, 'a', 500, 1000, 0, { values: { a: 7 }, at: 0, carried: null })).toBe(7)
  })

  it('is of the same fields in any order, and of none for a message with one that is undefined', () => {
    expect(table.of({ resource: 'r', x: 1, y: 2 })).toBe(table.of({ y: 1, x: 2, resource: 'r' }))
    expect(table.of({ resource: 'r', x: undefined })).toBeUndefined()
    expect(table.of(JSON.parse('{"resource":"r","__proto__":1}') as Message)).toBeUndefined()
  })
})
