/** An actuator that keeps values as what the task has found out. */
import { definePlug } from '#plug'

/** Keeps values as the output of a task. */
export const taskOutput = definePlug({
  name: 'TaskOutput',
  version: '1.0.0',
  kind: 'actuator',
  description: 'Keeps values as what the task has found out; whoever ran it reads them as the raw data of this node.',
  category: 'Data',
  input: {
    values: { type: 'object', mandatory: true, description: 'the values, by name', example: { verdict: 'ok' } },
  },
  openOutput: true,
  execute: ({ properties }) => ({ message: JSON.stringify(properties.values), rawData: { ...properties.values } }),
})
