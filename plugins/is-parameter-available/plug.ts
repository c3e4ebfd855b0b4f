/** A sensor that checks whether the message or a node has a value. */
import { definePlug, isKnown, parameterOf } from '#plug'

export const isParameterAvailable = definePlug({
  name: 'isParameterAvailable',
  version: '2.0.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description:
    'YES when the current message, or the raw data of a node, has a value of that name, otherwise NO. null, NaN and values of earlier messages do not count.',
  category: 'Data',
  // absence matters too
  parameters: () => undefined,
  states: ['YES', 'NO'],
  input: {
    node: {
      type: 'string',
      description: 'label of a node, for its raw data; the message when absent, empty or GLOBAL',
      example: 'GLOBAL',
    },
    parameter: {
      type: 'string',
      mandatory: true,
      description: 'name of the field; dots address nested objects',
      example: 'temperature',
    },
  },
  output: { value: { type: 'any', description: 'the value, if any' } },
  execute(context) {
    const { node, parameter } = context.properties
    const value = parameterOf(
      {
        streamValue: (key) => (context.isNew(key) ? context.streamValue(key) : undefined),
        lookup: (path) => context.lookup(path),
      },
      node,
      parameter,
    )
    return isKnown(value) ? { state: 'YES', rawData: { value } } : { state: 'NO', rawData: {} }
  },
})
