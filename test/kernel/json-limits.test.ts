import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonProblem, parsePlainJson } from '../../src/kernel/json-limits.ts'

/** A list in a list in a list, `levels` deep. */
function nested(levels: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

describe('jsonProblem', () => {
  it.each([
    ['NaN', Number.NaN, 'contains NaN, which JSON cannot express'],
    ['an endless number within', { a: [Number.POSITIVE_INFINITY] }, 'contains Infinity, which JSON cannot express'],
    ['a date', { at: new Date(0) }, 'contains a value that is not JSON (an instance of a class)'],
    ['a function', [() => 1], 'contains a value that is not JSON (a function)'],
    ['undefined in a list', [undefined], 'contains a value that is not JSON (nothing)'],
    ['a forbidden key within', { a: { constructor: 1 } }, 'has the key "constructor", which is not allowed'],
    ['101 levels', nested(101), 'is nested deeper than 100 levels'],
  ])('names %s', (_, value, text) => expect(jsonProblem(value)).toBe(text))

  it('accepts 100 levels, and an absent field', () => {
    expect(jsonProblem(nested(100))).toBeUndefined()
    expect(jsonProblem({ a: undefined })).toBeUndefined()
  })

  it('terminates for an object that contains itself', () => {
    const loop: unknown[] = []
    loop.push(loop)
    expect(jsonProblem(loop)).toBe('is nested deeper than 100 levels')
  })
})

describe('parsePlainJson', () => {
  it('parses any JSON text as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        if (/"(__proto__|constructor|prototype)"/.test(text)) return
        expect(parsePlainJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it.each([['{"__proto__":1}'], ['{"a":[{"prototype":1}]}'], ['['.repeat(101) + ']'.repeat(101)], ['{'], ['']])(
    'throws on %s',
    (text) => {
      expect(() => parsePlainJson(text)).toThrow(Error)
    },
  )
})
