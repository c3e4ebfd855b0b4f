import { describe, expect, it } from 'vitest'
import { lengthMs, widthOf } from '../../../../src/services/broker/series/grouping.ts'
import { DAY, HOUR } from './support/series-in-memory.ts'

const MINUTE = 60_000

describe('a length of time', () => {
  it.each([
    ['second', 1_000],
    ['minute', MINUTE],
    ['hour', HOUR],
    ['day', DAY],
    ['week', 7 * DAY],
    ['42m', 42 * MINUTE],
    ['90s', 90_000],
    ['2h', 2 * HOUR],
    ['1d', DAY],
    ['3w', 21 * DAY],
    ['PT1H', HOUR],
    ['PT1M', MINUTE],
    ['P1D', DAY],
    ['P1DT2H3M4.5S', DAY + 2 * HOUR + 3 * MINUTE + 4_500],
    ['PT8H3,5S', 8 * HOUR + 3_500],
    ['PT0.001S', 1],
    ['PT1.001S', 1_001],
    ['pt90s', 90_000],
  ])('%s', (text, ms) => {
    expect(lengthMs(text)).toBe(ms)
  })

  it.each(['', '0h', '0s', 'PT0S', 'P', 'PT', 'P1DT', '-1h', '-PT1H', '1.5h', 'PT1.5H', 'P1W', 'P1M', 'P1Y', 'month'])(
    '%j is invalid',
    (text) => expect(lengthMs(text)).toBeUndefined(),
  )

  it.each(['year', 'Hour', '5', '5M', '5ms', '1d12h', '1 h', '99999999999999w', 'PT0.0001S', '__proto__'])(
    '%j is invalid too',
    (text) => expect(lengthMs(text)).toBeUndefined(),
  )
})

describe('a default group', () => {
  it.each([
    ['200 seconds', 200_000, 1_000],
    ['200 seconds and a bit', 200_001, 5_000],
    ['an hour', HOUR, 30_000],
    ['a day', DAY, 15 * MINUTE],
    ['a week', 7 * DAY, HOUR],
    ['a month', 30 * DAY, 6 * HOUR],
    ['a year', 365 * DAY, 7 * DAY],
    ['a hundred years', 36_500 * DAY, 28 * DAY],
    ['no time', 0, 1_000],
  ])('returns at most 200 rows for %s', (_, length, width) => {
    expect(widthOf('auto', { from: 1_000, until: 1_000 + length })).toBe(width)
  })

  it('has the chosen width', () => {
    expect(widthOf(1_234, { from: 0, until: DAY })).toBe(1_234)
  })
})
