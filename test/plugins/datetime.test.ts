import { describe, expect, it } from 'vitest'
import { datetime } from '../../plugins/calendar/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

describe('datetime', () => {
  it('returns the whole calendar in UTC by default', () => {
    const now = Date.parse('2026-11-20T18:05:09.123Z')
    expect(runPlug(datetime, { now })).toMatchObject({
      state: 'Data',
      rawData: {
        timestamp: now,
        year: 2026,
        month: 11,
        day: 20,
        hours: 18,
        minutes: 5,
        seconds: 9,
        dateString: '2026-11-20',
        dayString: 'Friday',
        ISOstring: '2026-11-20T18:05:09.123Z',
      },
    })
  })

  it.each([
    ['Europe/Brussels', '2026-12-31T23:30:00Z', '2027-01-01', 'Friday', 0],
    ['America/New_York', '2026-01-01T03:00:00Z', '2025-12-31', 'Wednesday', 22],
    ['Europe/Brussels', '2026-03-29T00:59:59Z', '2026-03-29', 'Sunday', 1],
    ['Europe/Brussels', '2026-03-29T01:00:00Z', '2026-03-29', 'Sunday', 3],
    ['+05:30', '2026-06-01T20:00:00Z', '2026-06-02', 'Tuesday', 1],
    ['UTC', '2026-06-01T00:00:00Z', '2026-06-01', 'Monday', 0],
  ])('in %s at %s returns %s, %s, hour %i', (timeZone, at, dateString, dayString, hours) => {
    const call = { properties: { timeZone }, now: Date.parse(at) }
    const expected = { rawData: { dateString, dayString, hours } }
    expect(runPlug(datetime, call)).toMatchObject(expected)
  })

  it('names an unknown time zone', () => {
    expect(checkPlug(datetime, { timeZone: 'Mars/Base' })).toEqual([
      'timeZone: "Mars/Base" is not a valid time zone; use one such as Europe/Brussels or UTC',
    ])
    expect(checkPlug(datetime, { timeZone: 'Europe/Brussels' })).toEqual([])
    expect(checkPlug(datetime, {})).toEqual([])
    expect(() => runPlug(datetime, { properties: { timeZone: 'Mars/Base' } })).toThrow('is not a valid time zone')
  })
})
