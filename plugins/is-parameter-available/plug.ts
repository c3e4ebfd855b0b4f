import { definePlug, parameterOf } from '../../src/plug.ts'

/** Whether the message or a node has a value. */
export const isParameterAvailable = definePlug({
  name: 'isParameterAvailable',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'YES when the message, or the raw data of a node, has a value of that name, else NO. null counts as no value.',
  category: 'Data',
  states: ['YES', 'NO'],
  input: {
    node: {
      type: 'string',
      description: 'the label of the node whose raw data is asked; the message when left out, empty or GLOBAL',
      example: 'GLOBAL',
    },
    parameter: {
      type: 'string',
      mandatory: true,
      description: 'the field to ask for; dots lead into objects',
      example: 'temperature',
    },
  },
  output: { value: { type: 'any', description: 'the value; absent when there is none' } },
  execute(context) {
    const value = parameterOf(context, context.properties.node, context.properties.parameter)
    return value === undefined || value === null ? { state: 'NO', rawData: {} } : { state: 'YES', rawData: { value } }
  },
})
