import { describe, expect, it } from 'vitest'
import { delaySensor } from '../../plugins/delay-sensor/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

describe('delaySensor', () => {
  it.each([
    [5000, 5000],
    ['5000', 5000],
    [0, 0],
  ])('with a delay of %j is Triggered after %d ms', (delay, after) => {
    expect(runPlug(delaySensor, { properties: { delay } })).toMatchObject({ state: 'Triggered', after })
  })

  it('refuses a negative delay before and while it runs', () => {
    expect(checkPlug(delaySensor, { delay: 0 })).toEqual([])
    expect(checkPlug(delaySensor, {})).toEqual([])
    expect(checkPlug(delaySensor, { delay: -1 })).toEqual(['delay: delay must be 0 ms or more, but is -1'])
    expect(() => runPlug(delaySensor, { properties: { delay: -1 } })).toThrow('delay must be 0 ms or more')
  })

  it('asks for whole milliseconds', () => {
    expect(() => runPlug(delaySensor, { properties: { delay: '5s' } })).toThrow('a whole number such as 5000')
  })
})
