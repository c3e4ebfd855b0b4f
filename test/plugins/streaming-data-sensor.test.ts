import { describe, expect, it } from 'vitest'
import { streamingDataSensor } from '../../plugins/streaming-data-sensor/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

describe('streamingDataSensor', () => {
  it.each([
    [26, 25, 'Above'],
    [25, 25, 'Equal'],
    [24, 25, 'Below'],
    [0, 0, 'Equal'],
    ['26', 25, 'Above'],
    [26, '25', 'Above'],
    [24, 'setpoint', 'Below'],
    [true, 0, 'Above'],
    [true, 1, 'Equal'],
    [false, 1, 'Below'],
    [11, 'enabled', 'Above'],
  ])('a parameter of %j with the threshold %j returns %s', (temperature, threshold, state) => {
    const message = { temperature, setpoint: 25, enabled: true }
    expect(runPlug(streamingDataSensor, { properties: { parameter: 'temperature', threshold }, message }).state).toBe(
      state,
    )
  })

  it('returns the parameter, the threshold as a number and the value', () => {
    const message = { temperature: '26.5', setpoint: 25 }
    const ran = runPlug(streamingDataSensor, {
      properties: { parameter: 'temperature', threshold: 'setpoint' },
      message,
    })
    expect(ran.rawData).toEqual({ parameter: 'temperature', threshold: 25, data: 26.5 })
  })

  it.each([
    ['a missing parameter', { a: 1, b: 2 }, 5, 'the parameter "temperature" is missing in the message, which has a, b'],
    ['no message', {}, 5, 'the parameter "temperature" is missing, since no message has arrived'],
    [
      'a missing threshold parameter',
      { temperature: 5 },
      'setpoint',
      'the parameter "setpoint" is missing in the message, which has temperature',
    ],
    [
      'text other than a number',
      { temperature: 'warm' },
      5,
      '"temperature" of the message must be a number, but is the text "warm"',
    ],
    ['NaN', { temperature: Number.NaN }, 5, '"temperature" of the message must be a number, but is NaN'],
    ['null', { temperature: null }, 5, 'but is null'],
    ['a name from a prototype', { a: 1 }, 'toString', 'the parameter'],
  ])('fails on %s', (_, message, threshold, text) => {
    expect(() =>
      runPlug(streamingDataSensor, { properties: { parameter: 'temperature', threshold }, message }),
    ).toThrow(expect.objectContaining({ code: 'PLUG_FAILED', message: expect.stringContaining(text) as string }))
  })

  it('lists at most 20 parameters of a message', () => {
    const message = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`p${i}`, i]))
    expect(() => runPlug(streamingDataSensor, { properties: { parameter: 'x', threshold: 1 }, message })).toThrow(
      /p19 and 10 more$/,
    )
  })

  it.each([
    [25, 0],
    ['25', 0],
    ['setpoint', 0],
    ['', 1],
    [' ', 1],
    [true, 1],
    [[25], 1],
    [Number.NaN, 1],
  ])('with the threshold %j has %i problems', (threshold, count) => {
    expect(checkPlug(streamingDataSensor, { threshold })).toHaveLength(count)
  })
})
