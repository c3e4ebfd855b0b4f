import { describe, expect, it } from 'vitest'
import { isDate } from '../../plugins/is-date/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

describe('isDate', () => {
  it.each([
    ['2026-12-25T10:00:00Z', { date: '2026-12-25' }, 'TRUE'],
    ['2027-12-25T10:00:00Z', { date: '2026-12-25' }, 'FALSE'],
    ['2027-12-25T10:00:00Z', { date: '12-25' }, 'TRUE'],
    ['2028-02-29T10:00:00Z', { date: '02-29' }, 'TRUE'],
    ['2026-12-24T23:30:00Z', { date: '12-25', timeZone: 'Europe/Brussels' }, 'TRUE'],
  ])('at %s with %j is %s', (time, properties, state) => {
    expect(runPlug(isDate, { properties, now: Date.parse(time) }).state).toBe(state)
  })

  it('refuses what is no time zone', () => {
    expect(checkPlug(isDate, { timeZone: 'Mars' }).join()).toContain('"Mars" is not a time zone')
  })

  it.each(['2026-02-29', '13-01', '02-30', '25', 'soon'])('refuses the date %s', (date) => {
    expect(checkPlug(isDate, { date }).join()).toContain(`"${date}" is not a date`)
  })
})
