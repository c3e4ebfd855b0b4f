import { describe, expect, it } from 'vitest'
import { streamingRangeSensor } from '../../plugins/streaming-range-sensor/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

const properties = { parameter: 'temperature', target: 21, range: 2 }

describe('streamingRangeSensor', () => {
  it.each([
    [23.5, 'Above', 2.5],
    [23, 'In Range', 2],
    [21, 'In Range', 0],
    [19, 'In Range', -2],
    [18, 'Below', -3],
  ])('%d returns %s for 21 plus or minus 2', (temperature, state, deviation) => {
    const ran = runPlug(streamingRangeSensor, { properties, message: { temperature } })
    expect(ran).toMatchObject({ state, rawData: { ...properties, data: temperature, deviation } })
  })

  it('accepts a range of 0 and rejects a negative one', () => {
    expect(checkPlug(streamingRangeSensor, { range: 0 })).toEqual([])
    expect(checkPlug(streamingRangeSensor, {})).toEqual([])
    expect(checkPlug(streamingRangeSensor, { range: -1 })).toEqual(['range: range must be 0 or more, but is -1'])
    const call = { properties: { ...properties, range: -1 }, message: { temperature: 21 } }
    expect(() => runPlug(streamingRangeSensor, call)).toThrow('range must be 0 or more')
  })

  it('fails when the message lacks the parameter', () => {
    expect(() => runPlug(streamingRangeSensor, { properties, message: { humidity: 1 } })).toThrow('which has humidity')
  })
})
