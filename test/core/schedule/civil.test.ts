import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../support/arbitraries/runs.ts'
import { civilDay, dayNumber, daysInMonth, weekdayOf } from '../../../src/core/schedule/civil.ts'

describe('the calendar', () => {
  it('agrees with Date over two thousand years', () => {
    fc.assert(
      fc.property(fc.integer({ min: -600_000, max: 600_000 }), (day) => {
        const date = new Date(day * 86_400_000)
        const civil = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
        expect(civilDay(day)).toEqual(civil)
        expect(dayNumber(civil.year, civil.month, civil.day)).toBe(day)
        expect(weekdayOf(day)).toBe(date.getUTCDay())
      }),
      runs(100),
    )
  })

  it('carries months over into other years', () => {
    expect(dayNumber(2026, 13, 1)).toBe(dayNumber(2027, 1, 1))
    expect(dayNumber(2026, 0, 1)).toBe(dayNumber(2025, 12, 1))
  })

  it.each([
    [2026, 28],
    [2028, 29],
    [2100, 28],
    [2000, 29],
  ])('counts February of %i as %i days', (year, days) => {
    expect(daysInMonth(year, 2)).toBe(days)
  })
})
