import { describe, expect, it } from 'vitest'
import { changedBy } from '../../plugins/changed-by/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'
import { statesOf } from '../support/plug-series.ts'

const [C, U] = ['Changed', 'Unchanged']

describe('changedBy', () => {
  it.each([
    [{ by: 2 }, [10, 11, 12, 13, 14, 12.5, 12], [U, U, C, U, C, U, C]],
    [{ by: 10, unit: 'percent' }, [100, 109, 110, 120, 121], [U, U, C, U, C]],
    [{ by: 10, unit: 'percent' }, [0, 0, 1], [U, U, C]],
    [{ by: 1 }, [1, 1, 1], [U, U, U]],
  ])('%j over %j returns %j', (properties, values, states) => {
    expect(statesOf(changedBy, { value: 'v', ...properties }, values)).toEqual(states)
  })

  it('returns Unchanged on a run without a new value, and fails before the first value', () => {
    const properties = { value: 'v', by: 1 }
    const carried = { properties, message: { v: 9 }, messageTime: 0, now: 5 }
    expect(runPlug(changedBy, { ...carried, internalState: 2 })).toMatchObject({
      state: 'Unchanged',
      rawData: undefined,
      internalState: undefined,
    })
    expect(() => runPlug(changedBy, carried)).toThrow('no message has contained a value of "v" yet')
  })

  it('reports the value that it compared with', () => {
    const ran = runPlug(changedBy, { properties: { value: 'v', by: 2 }, message: { v: 5 }, internalState: 2 })
    expect(ran.rawData).toEqual({ value: 5, reference: 2, change: 3 })
  })

  it.each([0, -1])('rejects a change of %d', (by) => {
    expect(checkPlug(changedBy, { by }).join()).toContain('by must be above 0')
    expect(() => runPlug(changedBy, { properties: { value: '1', by } })).toThrow('by must be above 0')
  })
})
