import { describe, expect, it } from 'vitest'
import { isMonth } from '../../plugins/is-month/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

describe('isMonth', () => {
  it.each([
    ['2026-12-01T00:00:00Z', { month: 12 }, 'TRUE'],
    ['2026-11-30T23:59:59Z', { month: 12 }, 'FALSE'],
    ['2026-11-30T23:59:59Z', { month: 12, timeZone: 'Europe/Brussels' }, 'TRUE'],
  ])('at %s with %j is %s', (time, properties, state) => {
    expect(runPlug(isMonth, { properties, now: Date.parse(time) }).state).toBe(state)
  })

  it('refuses what is no time zone', () => {
    expect(checkPlug(isMonth, { timeZone: 'Mars' }).join()).toContain('"Mars" is not a time zone')
  })

  it.each([0, 13])('refuses the month %i', (month) => {
    expect(checkPlug(isMonth, { month }).join()).toContain('is not a month')
  })
})
