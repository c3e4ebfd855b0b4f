import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareText } from '../../../src/storage/order.ts'
import { nextPrefix } from '../../../src/storage/sqlite/condition-sql.ts'

describe('the first text after all that begin with a prefix', () => {
  it.each([
    ['a', 'b'],
    ['ab\u{10ffff}', 'ac'],
    ['\u{10ffff}\u{10ffff}', undefined],
    ['', undefined],
    ['a\ud7ff', 'a\ue000'],
    ['\uffff', '\u{10000}'],
    ['😀', '😁'],
  ])('of %j is %j', (prefix, next) => {
    expect(nextPrefix(prefix)).toBe(next)
  })

  it('has between it and the prefix exactly the texts that begin so', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '\ud7ff', '\ue000', '\uffff', '😀', '\u{10ffff}'),
      maxLength: 4,
    })
    fc.assert(
      fc.property(text, text, (prefix, other) => {
        const next = nextPrefix(prefix)
        const within = compareText(other, prefix) >= 0 && (next === undefined || compareText(other, next) < 0)
        expect(within).toBe(other.startsWith(prefix))
      }),
    )
  })
})
