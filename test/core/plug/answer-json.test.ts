import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPlainJson, jsonFault, keptPlain } from '../../../src/core/plug/answer-json.ts'

class Reading {
  readonly value = 1
}

/** A list in a list in a list, `levels` deep. */
function nested(levels: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

function circle(): unknown {
  const self: Record<string, unknown> = { n: 1 }
  return Object.assign(self, { list: [{ back: self }] })
}

describe('jsonFault', () => {
  it.each([
    ['a bigint', { a: { b: 12n } }, 'r.a.b, which is a bigint; use a number, or a text of its digits'],
    ['NaN', { a: [1, Number.NaN] }, 'r.a[1], which is NaN; omit it or use null'],
    ['an endless number', { 'a.b': Infinity }, 'r["a.b"], which is Infinity; omit it or use null'],
    ['a map', { m: new Map() }, 'r.m, which is an object of the class Map; use a plain object'],
    ['a date', [new Date(0)], 'r[0], which is an object of the class Date'],
    ['an instance', { r: new Reading() }, 'r.r, which is an object of the class Reading'],
    ['an instance of a class without a name', { r: new (class {})() }, 'r.r, which is an object of a class'],
    ['a function', { f: () => 1 }, 'r.f, which is a function; use data'],
    ['a symbol', { f: Symbol('x') }, 'r.f, which is a symbol; use data'],
    ['undefined in a list', { list: [undefined] }, 'r.list[0], which is undefined; use null'],
    ['a circle', circle(), 'r.list[0].back, which leads back to r; use a copy without the circle'],
    ['101 levels', nested(101), `r${'[0]'.repeat(100)}, which is nested deeper than 100 levels`],
  ])('locates %s', (_, value, text) => expect(jsonFault(value, 'r')).toContain(text))

  it('accepts plain JSON, and absent fields', () => {
    const shared = { x: 1 }
    for (const value of [null, '', true, -0.5, { a: undefined, b: [{}] }, [shared, shared], nested(99)])
      expect(jsonFault(value, 'r')).toBeUndefined()
  })

  it('accepts exactly the values that JSON text preserves', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(isPlainJson(value)).toBe(true)
      }),
    )
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }), (value) => {
        expect(jsonFault(value, 'r') === undefined).toBe(isPlainJson(value))
      }),
    )
  })

  it('does not walk a memory that its plug declares as plain', () => {
    const memory = keptPlain({ list: [1] as unknown[] })
    memory.list.push(1n)
    expect(isPlainJson(memory)).toBe(true)
    expect(isPlainJson({ list: memory.list })).toBe(false)
  })
})
