import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeNumbers, encodeNumbers } from '../../src/kernel/json-numbers.ts'
import { runs } from '../support/arbitraries/runs.ts'

const again = (value: unknown): unknown => decodeNumbers(JSON.parse(JSON.stringify(encodeNumbers(value))))

describe('numbers that JSON cannot express', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('%d survives the round trip', (number) => {
    expect(again({ list: [number, { deep: number }], one: number })).toEqual({
      list: [number, { deep: number }],
      one: number,
    })
  })

  it('are the only numbers with a special form', () => {
    const plain = { a: [1, 'x', null, true, { b: -0.5 }] }
    expect(encodeNumbers(plain)).toEqual(plain)
  })

  it('are not found in an object that merely has the same key among others', () => {
    const value = { $number: 'NaN', other: 1 }
    expect(again(value)).toEqual(value)
  })

  it.each([{ $number: 'NaN' }, { $number: Number.NaN }, { $number: 5 }, { $number: { $number: 'x' } }])(
    'are not confused with %j, which survives unchanged',
    (value) => {
      expect(again({ value })).toEqual({ value })
    },
  )

  it('leave the input unmodified', () => {
    const given = { a: [Number.NaN] }
    encodeNumbers(given)
    expect(given).toEqual({ a: [Number.NaN] })
  })
})

describe('any value of a message', () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(fc.double(), fc.string(), fc.boolean(), fc.constant(null), tie('list'), tie('object')),
    list: fc.array(tie('any'), { maxLength: 3 }),
    object: fc.dictionary(fc.oneof(fc.string(), fc.constant('$number')), tie('any'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  })).any

  it('survives the round trip, except for the sign of zero', () => {
    const positive = (one: unknown): unknown => JSON.parse(JSON.stringify(encodeNumbers(one)))
    fc.assert(
      fc.property(value, (given) => {
        expect(positive(again(given))).toEqual(positive(given))
      }),
      runs(500),
    )
  })

  it('cannot set a prototype', () => {
    const given: unknown = JSON.parse('{"__proto__":{"admin":true}}')
    for (const copy of [encodeNumbers(given), decodeNumbers(given)]) expect(copy).not.toHaveProperty('admin')
    expect(JSON.stringify(again(given))).toBe('{"__proto__":{"admin":true}}')
  })
})
