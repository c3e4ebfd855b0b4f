/** Defines a sensor that declares its calculation. */
import { sensorPlug } from './make-plug.ts'

/** Multiplies a number by a factor, and compares the result and its double with a limit. */
export const scale = sensorPlug('scale', ['Low', 'Middle', 'High'], {
  parameters: [],
  input: {
    value: { type: 'double', mandatory: true },
    factor: { type: 'double', mandatory: true },
    limit: { type: 'double', mandatory: true },
  },
  output: { value: { type: 'double' }, twice: { type: 'double' } },
  calculates: {
    rawData: { value: 'value * factor', twice: 'rawData.value * 2' },
    states: { High: 'rawData.value > limit', Middle: 'rawData.twice > limit' },
    otherwise: 'Low',
  },
  execute({ properties: { value: given, factor, limit } }) {
    const value = given * factor
    const state = value > limit ? 'High' : value * 2 > limit ? 'Middle' : 'Low'
    return { state, rawData: { value, twice: value * 2 } }
  },
})
