import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sweepValues } from '../../../src/core/simulate/sweep-values.ts'

describe('sweepValues', () => {
  it.each<[string, readonly unknown[]]>([
    ['70..90/5', [70, 75, 80, 85, 90]],
    ['70..90/6', [70, 76, 82, 88]],
    ['90..70/10', [90, 80, 70]],
    ['0..0.3/0.1', [0, 0.1, 0.2, 0.3]],
    ['-1..1/0.5', [-1, -0.5, 0, 0.5, 1]],
    ['5..5/1', [5]],
    ['70,75,90', [70, 75, 90]],
    ['High, Low', ['High', 'Low']],
    ['true,null,x', [true, null, 'x']],
    ['90', [90]],
    ['"70..90/5"', ['70..90/5']],
    ['[1,2]', [[1, 2]]],
    ['{"a":1}', [{ a: 1 }]],
    ['../up', ['../up']],
    ['PT5M', ['PT5M']],
  ])('%s stands for %j', (text, values) => {
    expect(sweepValues(text)).toEqual(values)
  })

  it.each([
    ['', 'the value is missing; use a range with its step such as 70..90/5, a list such as 70,75,90, or one value'],
    ['70..90', 'the range "70..90" lacks a step'],
    ['70..x/5', '"x" in the range "70..x/5" is not a number'],
    ['70..90/', '"" in the range "70..90/" is not a number'],
    ['70..90/0', 'the step of "70..90/0" must be above 0'],
    ['70..90/-5', 'the step of "70..90/-5" must be above 0'],
    ['70,,90', '"70,,90" has an empty item'],
    ['0..1000/1', '"0..1000/1" has 1,001 values, more than 1,000; use a larger step'],
    ['0..1000000000/0.001', 'more than 1,000; use a larger step'],
  ])('%j is rejected: %s', (text, message) => {
    expect(() => sweepValues(text)).toThrow(message)
  })

  it('a range across zero contains 0, not -0', () => {
    expect(sweepValues('-0.7..0.7/0.7')).toEqual([-0.7, 0, 0.7])
    expect(sweepValues('-35.7..0/0.7').at(-1)).toBe(0)
  })

  it('a range has both ends and equal steps', () => {
    fc.assert(
      fc.property(fc.integer({ min: -500, max: 500 }), fc.nat(99), fc.integer({ min: 1, max: 50 }), (from, n, step) => {
        const tenths = (value: number): number => value / 10
        const values = sweepValues(`${tenths(from)}..${tenths(from + n * step)}/${tenths(step)}`)
        expect(values).toEqual(Array.from({ length: n + 1 }, (_, i) => tenths(from + i * step)))
      }),
    )
  })
})
