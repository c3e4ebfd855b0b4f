import { describe, expect, it } from 'vitest'
import { getWeekDay } from '../../plugins/get-week-day/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

describe('getWeekDay', () => {
  it.each([
    ['2026-11-20T12:00:00Z', 'UTC', 'Friday'],
    ['2026-11-20T12:00:00Z', 'Pacific/Auckland', 'Saturday'],
    ['2026-11-16T00:00:00Z', 'UTC', 'Monday'],
    ['2026-11-22T23:59:59Z', 'UTC', 'Sunday'],
  ])('at %s in %s is %s', (time, timeZone, state) => {
    const ran = runPlug(getWeekDay, { properties: { timeZone }, now: Date.parse(time) })
    expect(ran).toMatchObject({ state, rawData: { dayString: state } })
  })

  it('refuses what is no time zone', () => {
    expect(checkPlug(getWeekDay, { timeZone: '' }).join()).toContain('not a time zone')
  })
})
