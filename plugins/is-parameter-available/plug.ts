/** A sensor that asks whether the message, or a node, has a value of a name. */
import { definePlug, isKnown, parameterOf } from '#plug'

/** Whether the message or a node has a value. */
export const isParameterAvailable = definePlug({
  name: 'isParameterAvailable',
  version: '2.0.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description:
    'YES when the message at hand, or the raw data of a node, has a value of that name, else NO. null and NaN count as no value, and so does what an earlier message had.',
  category: 'Data',
  // absence is its news
  parameters: () => undefined,
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
