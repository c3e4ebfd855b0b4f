/** Tests known values, numbers and equality, for every language and plug. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  countIn,
  isEqual,
  isExact,
  isKnown,
  numberIn,
  numberOfText,
  ofData,
  ordered,
  slackOf,
  whyNoNumber,
} from '../../src/kernel/values.ts'

describe('texts as numbers', () => {
  // Holds KNOWN-3
  it.each([
    ['0', 0],
    ['21.50', 21.5],
    ['20.0', 20],
    ['-0.5', -0.5],
    ['123456789012345', 123456789012345],
    ['-0.000123456789012345', -0.000123456789012345],
  ])('parses %j as %d', (text, number) => {
    expect(numberOfText(text)).toBe(number)
  })

  it.each([
    '',
    ' ',
    '0123',
    '1e3',
    '0x10',
    ' 5 ',
    '5\n',
    '+5',
    '.5',
    '5.',
    '1,5',
    'NaN',
    'Infinity',
    '٣',
    '1234567890123456',
  ])('does not parse %j as a number', (text) => expect(numberOfText(text)).toBeUndefined())

  it('returns the written number, to the last digit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -999_999_999, max: 999_999_999 }),
        fc.integer({ min: 0, max: 6 }),
        (whole, places) => {
          const text = (whole / 10 ** places).toFixed(places)
          expect(numberOfText(text)).toBe(Number(text))
        },
      ),
    )
  })
})

describe('known values', () => {
  // Holds KNOWN-1
  it.each([[undefined], [null], [Number.NaN], [Infinity], [-Infinity]])('%s is unknown', (value) => {
    expect(isKnown(value)).toBe(false)
    expect(numberIn(value)).toBeUndefined()
    expect(countIn(value)).toBeUndefined()
  })

  it.each([[0], [''], [false], [[]], [{}], [-0]])('%j is known', (value) => expect(isKnown(value)).toBe(true))

  // Holds KNOWN-2
  it('treats a number beyond 2^53 in data as unknown', () => {
    expect([2 ** 53 - 1, 2 ** 53, -(2 ** 53), 1e300].map(isExact)).toEqual([true, false, false, false])
    expect(ofData(2 ** 60)).toBeUndefined()
    expect(ofData(9007199254740991)).toBe(9007199254740991)
    expect(ofData('12345678901234567890')).toBe('12345678901234567890')
  })

  it('counts booleans only if requested', () => {
    expect([numberIn(true), countIn(true), countIn(false), countIn('1')]).toEqual([undefined, 1, 0, 1])
  })
})

describe('comparisons', () => {
  // Holds KNOWN-4
  it.each([
    [1, 1, true],
    ['1', 1, true],
    [21.5, '21.50', true],
    ['1', '1.0', false],
    ['0123', 123, false],
    [true, 1, false],
    [true, 'true', false],
    ['12345678901234567890', '12345678901234567891', false],
  ])('equality of %j and %j is %s', (a, b, equal) => {
    expect(isEqual(a, b)).toBe(equal)
    expect(isEqual(b, a)).toBe(equal)
  })

  it('orders numbers and texts, and names the operand that cannot be ordered', () => {
    expect(ordered('9', 10)).toEqual({ by: 'number', a: 9, b: 10 })
    expect(ordered('a', '10')).toEqual({ by: 'text', a: 'a', b: '10' })
    expect(ordered('9', '10')).toEqual({ by: 'decimals' })
    expect(ordered('', 1)).toEqual({ by: 'nothing', side: 'left' })
    expect(ordered(1, true)).toEqual({ by: 'nothing', side: 'right' })
  })

  // Holds KNOWN-5
  it('tolerates the rounding error of its operands', () => {
    expect(20.1 - 20 > 0.1).toBe(true)
    expect(20.1 - 20 - 0.1 > slackOf(20.1)).toBe(false)
    expect(1_000_000_000.1 - 1_000_000_000 - 0.1 > slackOf(1_000_000_000.1)).toBe(false)
    expect(20.100_001 - 20 - 0.1 > slackOf(20.1)).toBe(true)
  })
})

it.each([
  [undefined, 'has no value, so the result is unknown'],
  [null, 'is null, so the result is unknown'],
  [Number.NaN, 'is NaN, so the result is unknown'],
  [' ', 'is an empty text, so the result is unknown'],
  ['0123', 'is the text "0123", which is not a plain decimal such as 21.5'],
  [true, 'is true, which is not a number'],
  [[], 'is a list'],
])('explains why %j is not a number', (value, why) => expect(whyNoNumber(value)).toBe(why))
