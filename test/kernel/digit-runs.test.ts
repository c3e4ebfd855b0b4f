/** Tests that runs of digits are found at any position. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasDigits } from '../../src/kernel/digit-runs.ts'
import { runs } from '../support/arbitraries/runs.ts'

describe('a run of digits', () => {
  it.each([
    ['', 1, false],
    ['7', 1, true],
    ['12', 3, false],
    ['123', 3, true],
    ['12a123', 3, true],
    ['1234567890123456', 16, true],
    ['123456789012345.6', 16, false],
    [`${'9'.repeat(308)} ${'9'.repeat(308)}`, 309, false],
    [`x${'9'.repeat(309)}`, 309, true],
  ])('in %j of %i: %s', (text, count, expected) => {
    expect(hasDigits(text, count)).toBe(expected)
  })

  it('is found where the regular expression finds it', () => {
    const text = fc
      .array(fc.constantFrom('1', '29', '345', 'e', '.', ' '), { maxLength: 30 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 12 }), (given, count) => {
        expect(hasDigits(given, count)).toBe(new RegExp(`\\d{${count}}`).test(given))
      }),
      runs(500),
    )
  })
})
