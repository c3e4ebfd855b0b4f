/** Tests that numbers written as bytes equal those written by JavaScript. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_DIGITS, writeNumber } from '../../../../src/services/queries/render/csv-parts.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

function textOf(value: number): string {
  const bytes = Buffer.alloc(MAX_DIGITS + 1)
  const end = writeNumber(value, bytes, 1)
  return bytes.toString('latin1', 1, end)
}

describe('a number as bytes', () => {
  it('equals its text in JavaScript, with few digits or all', () => {
    const decimal = fc
      .tuple(fc.integer(), fc.integer({ min: 0, max: 6 }))
      .map(([digits, places]) => digits / 10 ** places)
    const any = fc.oneof(decimal, fc.integer(), fc.double({ noNaN: true }), fc.maxSafeInteger())
    fc.assert(
      fc.property(any, (value) => {
        expect(textOf(value)).toBe(String(value))
      }),
      { ...runs(1_000), examples: [[-0], [99], [100], [-0.5], [1.005], [1e9 + 0.125], [1e12], [1e21], [5e-324]] },
    )
  })
})
