import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FORBIDDEN_KEYS, isPlainObject, ownValue } from '../../src/kernel/json.ts'

class Point {
  x = 1
}

describe('isPlainObject', () => {
  it.each<[string, unknown, boolean]>([
    ['a literal', {}, true],
    ['a literal with fields', { a: 1 }, true],
    ['a null-prototype record', Object.create(null), true],
    ['the result of JSON.parse', JSON.parse('{"__proto__": {"a": 1}}'), true],
    ['an array', [], false],
    ['null', null, false],
    ['undefined', undefined, false],
    ['text', 'a', false],
    ['a number', 1, false],
    ['a function', () => 1, false],
    ['a date', new Date(0), false],
    ['a map', new Map(), false],
    ['an error', new Error('x'), false],
    ['a class instance', new Point(), false],
    ['an object over another object', Object.create({ a: 1 }), false],
  ])('%s: %#', (_what, value, expected) => {
    expect(isPlainObject(value)).toBe(expected)
  })

  it('holds for every JSON object and for nothing else in JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(isPlainObject(value)).toBe(typeof value === 'object' && value !== null && !Array.isArray(value))
      }),
    )
  })
})

describe('ownValue', () => {
  it('returns the value of an own key, also for arrays', () => {
    expect(ownValue({ a: 1 }, 'a')).toBe(1)
    expect(ownValue(['x', 'y'], '1')).toBe('y')
    expect(ownValue(Object.assign(Object.create(null) as object, { a: 1 }), 'a')).toBe(1)
    expect(ownValue(JSON.parse('{"__proto__": 1}'), '__proto__')).toBe(1)
  })

  it.each([...FORBIDDEN_KEYS, 'toString', 'hasOwnProperty', 'valueOf'])('does not reach %s on a prototype', (key) => {
    expect(ownValue({}, key)).toBeUndefined()
    expect(ownValue([], key)).toBeUndefined()
    expect(ownValue(() => 1, key)).toBeUndefined()
    expect(ownValue('text', key)).toBeUndefined()
  })

  it('returns undefined, and does not throw, for any value and a key that it does not own', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (value, key) => {
        const owns = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        expect(owns || ownValue(value, key) === undefined).toBe(true)
      }),
    )
  })
})
