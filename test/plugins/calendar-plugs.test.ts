/** Tests plugs that depend on the time: properties, an instant, and the expected state. */
import { describe, expect, it } from 'vitest'
import { alwaysONWithOFF } from '../../plugins/always-on-with-off/plug.ts'
import { alwaysON } from '../../plugins/always-on/plug.ts'
import { getWeekDay, isDate, isHour, isMonth, isWeekday, isWeekend } from '../../plugins/calendar/plug.ts'
import type { Plug } from '../../src/core/plug/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

const plugs: Readonly<Record<string, Plug>> = { isDate, isHour, isMonth, isWeekday, isWeekend, getWeekDay }
const plugOf = (name: string): Plug => plugs[name] ?? expect.fail(name)

it.each([
  ['isDate', { date: '2026-12-25' }, '2026-12-25T10:00:00Z', 'TRUE'],
  ['isDate', { date: '2026-12-25' }, '2027-12-25T10:00:00Z', 'FALSE'],
  ['isDate', { date: '12-25' }, '2027-12-25T10:00:00Z', 'TRUE'],
  ['isDate', { date: '02-29' }, '2028-02-29T10:00:00Z', 'TRUE'],
  ['isDate', { date: '12-25', timeZone: 'Europe/Brussels' }, '2026-12-24T23:30:00Z', 'TRUE'],
  ['isHour', { hour: 18 }, '2026-11-20T18:00:00Z', 'TRUE'],
  ['isHour', { hour: 18 }, '2026-11-20T18:59:59Z', 'TRUE'],
  ['isHour', { hour: 18 }, '2026-11-20T19:00:00Z', 'FALSE'],
  ['isHour', { hour: 18, timeZone: 'Europe/Brussels' }, '2026-07-20T16:00:00Z', 'TRUE'],
  ['isHour', { hour: 0 }, '2026-11-20T00:00:00Z', 'TRUE'],
  ['isMonth', { month: 12 }, '2026-12-01T00:00:00Z', 'TRUE'],
  ['isMonth', { month: 12 }, '2026-11-30T23:59:59Z', 'FALSE'],
  ['isMonth', { month: 12, timeZone: 'Europe/Brussels' }, '2026-11-30T23:59:59Z', 'TRUE'],
  ['isWeekday', {}, '2026-11-20T23:59:59Z', 'TRUE'],
  ['isWeekday', {}, '2026-11-21T00:00:00Z', 'FALSE'],
  ['isWeekday', {}, '2026-11-23T00:00:00Z', 'TRUE'],
  ['isWeekday', { timeZone: '+01:00' }, '2026-11-20T23:30:00Z', 'FALSE'],
  ['isWeekend', {}, '2026-11-21T00:00:00Z', 'TRUE'],
  ['isWeekend', {}, '2026-11-22T23:59:59Z', 'TRUE'],
  ['isWeekend', {}, '2026-11-20T12:00:00Z', 'FALSE'],
  ['isWeekend', { timeZone: 'Pacific/Auckland' }, '2026-11-20T12:00:00Z', 'TRUE'],
  ['isWeekend', { timeZone: 'Pacific/Auckland' }, '2026-11-22T12:00:00Z', 'FALSE'],
  ['getWeekDay', {}, '2026-11-20T12:00:00Z', 'Friday'],
  ['getWeekDay', { timeZone: 'Pacific/Auckland' }, '2026-11-20T12:00:00Z', 'Saturday'],
  ['getWeekDay', {}, '2026-11-16T00:00:00Z', 'Monday'],
  ['getWeekDay', {}, '2026-11-22T23:59:59Z', 'Sunday'],
])('%s with %j at %s is %s', (name, properties, time, state) => {
  const ran = runPlug(plugOf(name), { properties: { timeZone: 'UTC', ...properties }, now: Date.parse(time) })
  expect(ran.state).toBe(state)
  if (name === 'getWeekDay') expect(ran.rawData).toMatchObject({ dayString: state })
})

it.each([
  ...Object.keys(plugs).map((name) => [name, { timeZone: 'Mars' }, '"Mars" is not a valid time zone'] as const),
  ...['2026-02-29', '13-01', '02-30', '25', 'soon'].map(
    (date) => ['isDate', { date }, `"${date}" is not a valid date`] as const,
  ),
  ...[-1, 24].map((hour) => ['isHour', { hour }, 'is not a valid hour'] as const),
  ...[0, 13].map((month) => ['isMonth', { month }, 'is not a valid month'] as const),
])('%s rejects %j: %s', (name, properties, text) => {
  expect(checkPlug(plugOf(name), properties).join()).toContain(text)
  if (!('timeZone' in properties)) expect(() => runPlug(plugOf(name), { properties })).toThrow(text)
})

describe.each([alwaysON, alwaysONWithOFF])('$name', (plug) => {
  it('is ON on every run', () => {
    expect(runPlug(plug)).toMatchObject({ state: 'ON', rawData: undefined })
    expect(runPlug(plug, { internalState: 'OFF', message: { state: 'OFF' } }).state).toBe('ON')
  })
})
