import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareText, compareValues, foldCase } from '../../src/storage/order.ts'
import { pathPage } from '../../src/storage/path-page.ts'
import { runs } from '../support/arbitraries/runs.ts'

const texts = fc.string({ unit: 'binary' })
const inBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

describe('the order of text', () => {
  it('is the order of UTF-8 bytes', () => {
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(inBytes(a, b))
      }),
    )
  })

  it('puts emoji after all of the first plane, where UTF-16 does not', () => {
    expect(compareText('\u{1f600}', '\uffff')).toBeGreaterThan(0)
    expect(compareText('x\ue000', 'x\u{10000}')).toBeLessThan(0)
  })

  it('is by value for numbers, minus zero being zero', () => {
    expect([compareValues(9, 10) < 0, compareValues(-0, 0) === 0, compareValues('9', '10') > 0]).toEqual([
      true,
      true,
      true,
    ])
  })
})

describe('folded case', () => {
  it('finds a part wherever a word ends', () => {
    expect(foldCase('ΟΔΟΣΑ').includes(foldCase('ΟΔΟΣ'))).toBe(true)
    expect(foldCase('ΟΔΟΣ').includes(foldCase('οδοσ'))).toBe(true)
  })
})

describe('a page of paths', () => {
  it('is the paths with the prefix, after a path, up to the limit', () => {
    const paths = fc.uniqueArray(
      fc.string({ unit: fc.constantFrom('a', 'b', '/', '\uffff', '\u{1f600}'), minLength: 1, maxLength: 4 }),
    )
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '/', '\u{1f600}'), maxLength: 3 })
    fc.assert(
      fc.property(paths, part, part, fc.integer({ min: 1, max: 4 }), (all, prefix, after, limit) => {
        const sorted = [...all].sort(inBytes)
        const expected = sorted.filter((path) => path.startsWith(prefix) && inBytes(path, after) > 0).slice(0, limit)
        expect(pathPage(sorted, { prefix, after, limit })).toEqual(expected)
      }),
      runs(500),
    )
  })
})
