import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatTime } from '../../../src/cli/time-text.ts'
import { zoneOf } from '../../../src/cli/zone.ts'
import { readTime } from '../../../src/formats/recording/times.ts'

const utc = zoneOf('UTC')
const brussels = zoneOf('Europe/Brussels')
const iso = (text: string) => [Date.parse(text)]

describe('readTime', () => {
  it.each([
    ['2025-01-15T08:30:00Z', '2025-01-15T08:30:00Z'],
    ['2025-01-15T08:30:00.125Z', '2025-01-15T08:30:00.125Z'],
    ['2025-01-15T08:30:00,5Z', '2025-01-15T08:30:00.500Z'],
    ['2025-01-15T08:30:00.123456789Z', '2025-01-15T08:30:00.123Z'],
    ['2025-01-15T08:30:00+02:00', '2025-01-15T06:30:00Z'],
    ['2025-01-15T08:30:00-0530', '2025-01-15T14:00:00Z'],
    ['2025-01-15T08:30+01', '2025-01-15T07:30:00Z'],
    ['2025-01-15 08:30:00', '2025-01-15T08:30:00Z'],
    [' 2025-01-15 08:30 ', '2025-01-15T08:30:00Z'],
    ['2025-01-15', '2025-01-15T00:00:00Z'],
    ['1736929800000.5', '2025-01-15T08:30:00.001Z'],
    ['1736929800000', '2025-01-15T08:30:00Z'],
    ['0', '1970-01-01T00:00:00Z'],
    [1_736_929_800_000, '2025-01-15T08:30:00Z'],
  ])('accepts %s', (text, expected) => {
    expect(readTime(text, utc)).toEqual({ times: iso(expected) })
  })

  it('reads an epoch number in the specified unit, and in milliseconds by default', () => {
    expect(readTime('1736929800', utc)).toEqual({ times: [1_736_929_800] })
    expect(readTime('1736929800.25', utc, 's')).toEqual({ times: [1_736_929_800_250] })
    expect(readTime(1_736_929_800_000_499, utc, 'us')).toEqual({ times: [1_736_929_800_000] })
  })

  it.each(['2025-02-29', '2025-13-01', '2025-01-15T25:00', '2025-01-15T08:61:00Z', '2025-01-15T08:30:00+25:00'])(
    'rejects %s, which does not exist on a calendar or clock',
    (text) => {
      expect(readTime(text, utc)).toMatchObject({ message: `"${text}" does not exist in the calendar or on the clock` })
    },
  )

  it.each(['yesterday', '15/01/2025 08:30', '08:30', '2025-1-5', true, null, {}])('rejects %j', (value) => {
    const told = JSON.stringify(readTime(value, utc))
    expect(told).toContain('is not a valid time')
    expect(told).toContain('2025-01-31T08:00:00Z')
  })

  it.each([Number.NaN, 1e300, '99999999999999999999'])('rejects %s, which is out of range', (value) => {
    expect(JSON.stringify(readTime(value, utc))).toContain('is beyond the range of dates')
  })

  it('reads a time without an offset in the specified zone', () => {
    expect(readTime('2025-07-01 12:00:00', brussels)).toEqual({ times: iso('2025-07-01T10:00:00Z') })
    expect(readTime('2025-01-01 12:00:00', zoneOf('-03:30'))).toEqual({ times: iso('2025-01-01T15:30:00Z') })
  })

  it('detects that a local hour occurs twice when summer time ends', () => {
    expect(readTime('2025-10-26 02:30:00', brussels)).toEqual({
      times: [Date.parse('2025-10-26T00:30:00Z'), Date.parse('2025-10-26T01:30:00Z')],
    })
  })

  it('detects that a local hour is skipped in spring', () => {
    expect(readTime('2025-03-30 02:30:00', brussels)).toMatchObject({
      message: '"2025-03-30 02:30:00" does not exist in Europe/Brussels: clocks skip it',
    })
  })

  it('reads back what formatTime writes, in any zone', () => {
    const zones = ['UTC', 'Europe/Brussels', 'America/St_Johns', 'Australia/Lord_Howe', '+05:45'].map(zoneOf)
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.integer({ min: 0, max: 2_000_000_000_000 }), (zone, instant) => {
        const reading = readTime(formatTime(instant, zone), zone)
        expect('times' in reading && reading.times).toContain(instant)
      }),
    )
  })
})
