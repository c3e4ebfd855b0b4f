/** An actuator that stores values as the output of a task. */
import { definePlug } from '#plug'

export const taskOutput = definePlug({
  name: 'TaskOutput',
  version: '1.0.0',
  kind: 'actuator',
  description: 'Stores values as the output of the task, readable as the raw data of this node.',
  category: 'Data',
  input: {
    values: { type: 'object', mandatory: true, description: 'the values, by name', example: { verdict: 'ok' } },
  },
  openOutput: true,
  execute: ({ properties }) => ({ message: JSON.stringify(properties.values), rawData: { ...properties.values } }),
})
