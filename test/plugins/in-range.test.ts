import { describe, expect, it } from 'vitest'
import { inRange } from '../../plugins/in-range/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

describe('inRange', () => {
  it.each([
    [25, 'Above'],
    [24, 'In Range'],
    [21, 'In Range'],
    [18, 'In Range'],
    [17.999, 'Below'],
    ['21.5', 'In Range'],
  ])('%j between 18 and 24 is %s', (value, state) => {
    expect(runPlug(inRange, { properties: { value, lowerLimit: 18, upperLimit: 24 } }).state).toBe(state)
  })

  it.each([
    [24, 24],
    [24, 18],
  ])('rejects limits %d and %d', (lowerLimit, upperLimit) => {
    const text = `upperLimit ${upperLimit} must be greater than lowerLimit ${lowerLimit}`
    expect(checkPlug(inRange, { lowerLimit, upperLimit })).toEqual([`upperLimit: ${text}`])
    expect(() => runPlug(inRange, { properties: { value: 20, lowerLimit, upperLimit } })).toThrow(
      expect.objectContaining({ code: 'PLUG_FAILED', message: text }),
    )
  })

  it('is not checked while a limit is unknown', () => {
    expect(checkPlug(inRange, { lowerLimit: 5 })).toEqual([])
    expect(checkPlug(inRange, { upperLimit: 5 })).toEqual([])
  })

  it('rejects NaN', () => {
    expect(() => runPlug(inRange, { properties: { value: Number.NaN, lowerLimit: 1, upperLimit: 2 } })).toThrow(
      '"value"',
    )
  })
})
