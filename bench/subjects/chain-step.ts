/** The sensor of the chain workload: one step, its value handed on as raw data. */
import { definePlug } from '../../src/plug.ts'

export const chainStep = definePlug({
  name: 'chainStep',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Low', 'High'],
  input: {
    value: { type: 'double', mandatory: true },
    factor: { type: 'double', mandatory: true },
    offset: { type: 'double', mandatory: true },
    limit: { type: 'double', mandatory: true },
  },
  output: { value: { type: 'double' } },
  calculates: {
    rawData: { value: 'value * factor + offset' },
    states: { High: 'rawData.value > limit' },
    otherwise: 'Low',
  },
  execute({ properties }) {
    const value = properties.value * properties.factor + properties.offset
    return { state: value > properties.limit ? 'High' : 'Low', rawData: { value } }
  },
})
