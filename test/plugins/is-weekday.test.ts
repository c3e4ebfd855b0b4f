import { describe, expect, it } from 'vitest'
import { isWeekday } from '../../plugins/is-weekday/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

describe('isWeekday', () => {
  it.each([
    ['2026-11-20T23:59:59Z', {}, 'TRUE'],
    ['2026-11-21T00:00:00Z', {}, 'FALSE'],
    ['2026-11-23T00:00:00Z', {}, 'TRUE'],
    ['2026-11-20T23:30:00Z', { timeZone: '+01:00' }, 'FALSE'],
  ])('at %s with %j is %s', (time, properties, state) => {
    expect(runPlug(isWeekday, { properties, now: Date.parse(time) }).state).toBe(state)
  })

  it('refuses what is no time zone', () => {
    expect(checkPlug(isWeekday, { timeZone: 'Mars' }).join()).toContain('"Mars" is not a time zone')
  })
})
