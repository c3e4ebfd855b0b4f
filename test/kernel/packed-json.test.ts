import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonPacker, unpack } from '../../src/kernel/packed-json.ts'

const NAMES = ['boiler-1', 'a"b', '\u0000', '\u00011\u0001', '__proto__', '']
const text = fc.oneof(fc.string(), fc.constantFrom(...NAMES), fc.constantFrom('\u0000', '\u00010\u0001'))
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    text,
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('record'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  record: fc.dictionary(fc.oneof(text, fc.constant('origin')), tie('value'), { maxKeys: 4, noNullPrototype: true }),
}))

// Holds PACKED-1
describe('packed JSON', () => {
  it('unpacks to an equal value, with its keys in order', () => {
    const packer = new JsonPacker(['origin'])
    fc.assert(
      fc.property(value, fc.subarray(NAMES), (given, names) => {
        const packed = packer.pack(given, names)
        if (packed === undefined) throw new Error('it was not packed')
        const unpacked = unpack(packed)
        expect(unpacked).toStrictEqual(given)
        expect(JSON.stringify(unpacked)).toBe(JSON.stringify(given))
      }),
    )
  })

  it.each([
    ['numbers', { at: 1, values: [2, -0] }, { at: 17, values: [4.5, 1e300] }],
    ['names, as keys and as values', { s: { 'r-1': 'r-1' } }, { s: { 'r-2': 'r-2' } }],
  ])('shares one shape between values that differ only in %s', (_, a, b) => {
    const packer = new JsonPacker()
    expect(packer.pack(a, ['r-1'])?.form).toBe(packer.pack(b, ['r-2'])?.form)
  })

  it.each([
    ['texts', { a: 'x' }, { a: 'y' }],
    ['keys', { a: 1 }, { b: 1 }],
    ['numbers that count as form', { origin: 0 }, { origin: 1 }],
    ['numbers of a list that count as form', { origin: [0] }, { origin: [1] }],
  ])('has separate shapes for values that differ in %s', (_, a, b) => {
    const packer = new JsonPacker(['origin'])
    expect(packer.pack(a, [])?.form).not.toBe(packer.pack(b, [])?.form)
  })

  it.each([
    ['a date', { at: new Date(0) }],
    ['a number that JSON does not have', [Number.NaN]],
    ['a hole', [undefined]],
    ['a function', { f: () => 1 }],
  ])('rejects values with %s', (_, given) => {
    expect(new JsonPacker().pack(given, [])).toBeUndefined()
  })

  it('omits undefined members', () => {
    const packed = new JsonPacker().pack({ a: undefined, b: 1 }, [])
    expect(packed && unpack(packed)).toStrictEqual({ b: 1 })
  })
})
