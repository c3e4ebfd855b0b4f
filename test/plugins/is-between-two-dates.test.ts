import { describe, expect, it } from 'vitest'
import { isBetweenTwoDates } from '../../plugins/is-between-two-dates/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

const november = { fromDate: '2026-11-01', untilDate: '2026-11-30T12:00:00Z' }

describe('isBetweenTwoDates', () => {
  it.each([
    [{ ...november }, '2026-10-31T23:59:59Z', 'Before'],
    [{ ...november }, '2026-11-01T00:00:00Z', 'Between'],
    [{ ...november }, '2026-11-30T12:00:00Z', 'Between'],
    [{ ...november }, '2026-11-30T12:00:01Z', 'After'],
    [{ ...november, eventDate: '2026-11-15T10:00' }, '2030-01-01T00:00:00Z', 'Between'],
    [{ ...november, eventDate: '2026-12-01T00:30:00+13:00' }, '2030-01-01T00:00:00Z', 'Between'],
    [{ ...november, fromDateOffsetHours: -2 }, '2026-10-31T22:00:00Z', 'Between'],
    [{ fromDate: 0, untilDate: 1000, eventDate: 1001 }, '2030-01-01T00:00:00Z', 'After'],
  ])('with %j at %s is %s', (properties, now, state) => {
    expect(runPlug(isBetweenTwoDates, { properties, now: Date.parse(now) }).state).toBe(state)
  })

  it.each(['soon', '11/20/2026', '2026-13-01', true])('rejects the date %j', (date) => {
    expect(checkPlug(isBetweenTwoDates, { fromDate: date }).join()).toContain('is not a valid date')
  })

  it('fails when the dates are in reverse order', () => {
    const properties = { fromDate: '2026-11-02', untilDate: '2026-11-01' }
    expect(() => runPlug(isBetweenTwoDates, { properties })).toThrow('swap them')
  })
})
