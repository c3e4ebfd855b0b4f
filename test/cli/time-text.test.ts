import { describe, expect, it } from 'vitest'
import { formatSpan, formatTime } from '../../src/cli/time-text.ts'
import { zoneOf } from '../../src/cli/zone.ts'

const utc = zoneOf('UTC')

describe('zoneOf', () => {
  it('refuses an unknown zone and names the nearest', () => {
    expect(() => zoneOf('Europe/Brusels')).toThrow('"Europe/Brusels" is not a time zone; did you mean Europe/Brussels?')
  })
})

describe('formatTime', () => {
  it.each([
    ['2025-01-15T08:30:00Z', '2025-01-15T08:30:00'],
    ['2025-01-15T08:30:00.040Z', '2025-01-15T08:30:00.040'],
  ])('writes %s as %s', (instant, expected) => {
    expect(formatTime(Date.parse(instant), utc)).toBe(expected)
  })
})

describe('formatSpan', () => {
  it.each([
    [0, '0 ms'],
    [999.4, '999 ms'],
    [1500, '1.5 s'],
    [60_000, '1 min'],
    [3_600_000, '1 h'],
    [86_340_000, '23 h 59 min'],
    [86_400_000 * 3 + 3_600_000 * 2 + 60_000, '3 d 2 h'],
  ])('writes %d ms as %s', (ms, expected) => {
    expect(formatSpan(ms)).toBe(expected)
  })
})
