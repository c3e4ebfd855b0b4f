import { describe, expect, it } from 'vitest'
import { isHour } from '../../plugins/is-hour/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

describe('isHour', () => {
  it.each([
    ['2026-11-20T18:00:00Z', { hour: 18 }, 'TRUE'],
    ['2026-11-20T18:59:59Z', { hour: 18 }, 'TRUE'],
    ['2026-11-20T19:00:00Z', { hour: 18 }, 'FALSE'],
    ['2026-07-20T16:00:00Z', { hour: 18, timeZone: 'Europe/Brussels' }, 'TRUE'],
    ['2026-11-20T00:00:00Z', { hour: 0 }, 'TRUE'],
  ])('at %s with %j is %s', (time, properties, state) => {
    expect(runPlug(isHour, { properties, now: Date.parse(time) }).state).toBe(state)
  })

  it('refuses what is no time zone', () => {
    expect(checkPlug(isHour, { timeZone: 'Mars' }).join()).toContain('"Mars" is not a time zone')
  })

  it.each([-1, 24])('refuses the hour %i', (hour) => {
    expect(checkPlug(isHour, { hour }).join()).toContain('is not an hour')
    expect(() => runPlug(isHour, { properties: { hour } })).toThrow('is not an hour')
  })
})
