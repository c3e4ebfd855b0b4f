import { describe, expect, it } from 'vitest'
import { isWeekend } from '../../plugins/is-weekend/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

describe('isWeekend', () => {
  it.each([
    ['2026-11-21T00:00:00Z', {}, 'TRUE'],
    ['2026-11-22T23:59:59Z', {}, 'TRUE'],
    ['2026-11-20T12:00:00Z', {}, 'FALSE'],
    ['2026-11-20T12:00:00Z', { timeZone: 'Pacific/Auckland' }, 'TRUE'],
    ['2026-11-22T12:00:00Z', { timeZone: 'Pacific/Auckland' }, 'FALSE'],
  ])('at %s with %j is %s', (time, properties, state) => {
    expect(runPlug(isWeekend, { properties, now: Date.parse(time) }).state).toBe(state)
  })

  it('refuses what is no time zone', () => {
    expect(checkPlug(isWeekend, { timeZone: 'Mars' }).join()).toContain('"Mars" is not a time zone')
  })
})
