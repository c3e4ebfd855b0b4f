import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hysteresis } from '../../plugins/hysteresis/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'
import { runSeries, statesOf } from '../support/plug-series.ts'

const above = { value: 'v', enter: 80, leave: 75 }
const below = { value: 'v', enter: 5, leave: 8 }

describe('hysteresis', () => {
  it.each([
    [above, [70, 78, 80, 81, 78, 75, 74, 78], ['Off', 'Off', 'Off', 'On', 'On', 'On', 'Off', 'Off']],
    [below, [9, 6, 5, 4, 7, 8, 9], ['Off', 'Off', 'Off', 'On', 'On', 'On', 'Off']],
  ])('%j over %j returns %j', (properties, values, states) => {
    expect(statesOf(hysteresis, properties, values)).toEqual(states)
  })

  it('keeps the time at which its state began', () => {
    const ran = runSeries(hysteresis, above, [{ v: 90 }, { v: 90 }, { v: 70 }], (i) => 100 * i)
    expect(ran.map(({ rawData }) => rawData)).toEqual([
      { value: 90, since: 0 },
      { value: 90, since: 0 },
      { value: 70, since: 200 },
    ])
  })

  it('changes state at most as often as the value crosses the whole band', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 70, max: 85 })), (values) => {
        const states = statesOf(hysteresis, above, values)
        states.forEach((state, i) => {
          if (i > 0 && state !== states[i - 1]) {
            if (state === 'On') expect(values[i]).toBeGreaterThan(80)
            else expect(values[i]).toBeLessThan(75)
          }
        })
      }),
    )
  })

  it('rejects equal thresholds, and a value that is not an expression', () => {
    expect(checkPlug(hysteresis, { value: 'v', enter: 5, leave: 5 }).join()).toContain(
      'leave: enter and leave are both 5',
    )
    expect(checkPlug(hysteresis, { value: 'v >', enter: 5, leave: 4 }).join()).toContain('column 4')
    expect(() => runPlug(hysteresis, { properties: { ...above, leave: 80 }, message: { v: 1 } })).toThrow('both 80')
  })

  it('fails without a value', () => {
    expect(() => runPlug(hysteresis, { properties: above })).toThrow('no message has contained a value of "v" yet')
  })

  it('keeps its state on a run without a new value, for any carry-over setting', () => {
    const on = { on: true, since: 5 }
    const carried = { message: { v: 1 }, messageTime: 7, now: 9 }
    expect(runPlug(hysteresis, { properties: above, internalState: on, ...carried })).toMatchObject({
      state: 'On',
      rawData: undefined,
    })
    expect(() => runPlug(hysteresis, { properties: above, ...carried })).toThrow('no message has contained')
  })
})
