import { describe, expect, it } from 'vitest'
import { calendarGrid, firstFrom } from '../../../../src/services/queries/time-line/grid.ts'
import { skippedDays } from '../../../../src/services/shared/series/local-periods.ts'

const DAY = 86_400_000
const day = (text: string) => Date.parse(`${text}T00:00:00Z`) / DAY

describe('days that a zone skipped', () => {
  it.each([
    ['Pacific/Apia', ['2011-12-30']],
    ['Pacific/Fakaofo', ['2011-12-30']],
    ['Pacific/Kwajalein', ['1993-08-21']],
    ['Europe/Brussels', []],
    ['UTC', []],
  ])('are found: %s', (zone, days) => {
    const since = skippedDays(zone).filter((one) => one > 0)
    expect(since.map((one) => new Date(one * DAY).toISOString().slice(0, 10))).toEqual(days)
  })
})

describe('a grid of days over a day that its zone skipped', () => {
  const grid = calendarGrid({ unit: 'day', count: 1 }, 'Pacific/Apia', 'P1D')
  const change = Date.parse('2011-12-30T10:00:00Z')

  it('continues from the day before to the day after, each with its length', () => {
    const first = grid.numberOf(Date.parse('2011-12-28T12:00:00Z'))
    const begins = [0, 1, 2, 3, 4].map((i) => grid.beginOf(first + i))
    expect(begins).toEqual([-2, -1, 0, 1, 2].map((i) => change + i * DAY))
  })

  it('numbers each instant by the bucket that contains it', () => {
    for (let time = change - 3 * DAY; time < change + 3 * DAY; time += DAY / 8) {
      const number = grid.numberOf(time)
      expect(grid.beginOf(number)).toBeLessThanOrEqual(time)
      expect(grid.beginOf(number + 1)).toBeGreaterThan(time)
    }
    expect(grid.beginOf(firstFrom(grid, change))).toBe(change)
    expect(firstFrom(grid, change + 1)).toBe(firstFrom(grid, change) + 1)
  })

  it('equals the calendar in zones without skipped days', () => {
    const brussels = calendarGrid({ unit: 'day', count: 1 }, 'Europe/Brussels', 'P1D')
    expect(brussels.numberOf(Date.parse('2024-03-01T12:00:00Z'))).toBe(day('2024-03-01'))
  })
})
