import { describe, expect, it } from 'vitest'
import { timeToLive } from '../../../../src/services/broker/posting/read-time-to-live.ts'

describe('the time to live of a post', () => {
  it.each<[string | number, number]>([
    ['3600', 3_600_000],
    [3600, 3_600_000],
    [0, 0],
    ['0', 0],
    ['52w', 52 * 7 * 86_400_000],
    ['2d', 2 * 86_400_000],
    ['12h', 12 * 3_600_000],
    ['42m', 42 * 60_000],
    ['7s', 7_000],
    ['PT42M', 42 * 60_000],
    ['P1DT2H', 26 * 3_600_000],
    ['PT0.5S', 500],
  ])('%s is %d ms', (given, ms) => {
    expect(timeToLive(given)).toBe(ms)
  })

  it.each([
    '1d12h',
    '5M',
    '5 m',
    '-5',
    '-PT5M',
    'P1Y',
    'PT',
    '1.5h',
    '',
    'x',
    '9'.repeat(16),
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '999999999999999w',
  ])('%s is none', (given) => {
    expect(timeToLive(given)).toBeUndefined()
  })
})
