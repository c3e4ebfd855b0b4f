/** A sensor that compares a value of the message or of a node with a configured one. */
import { AppError, definePlug, isEqual, isKnown, isOfMessage, namesOfParameter, parameterOf } from '#plug'

export const isParameterEqual = definePlug({
  name: 'isParameterEqual',
  version: '1.1.0',
  compatible: '>=0.0.1 <2',
  kind: 'sensor',
  description:
    'YES when a value of the message, or of the raw data of a node, equals the given one, otherwise NO. A text and a number are equal when the text is that number as a plain decimal; two texts must match exactly, and other values must be of one kind. Without a value, or with null, it fails.',
  category: 'Data',
  parameters: namesOfParameter,
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
    value: { type: 'any', mandatory: true, description: 'expected value', example: 21 },
  },
  output: { value: { type: 'any', description: 'the actual value' } },
  execute(context) {
    const { node, parameter, value: wanted } = context.properties
    const value = parameterOf(context, node, parameter)
    if (!isKnown(value)) {
      const where = isOfMessage(node) ? 'the message' : `node "${node}"`
      throw new AppError(
        'PLUG_FAILED',
        `${where} lacks a value of "${parameter}"; use isParameterAvailable first where it may be missing`,
      )
    }
    return { state: isSame(value, wanted) ? 'YES' : 'NO', rawData: { value } }
  },
})

function isSame(value: unknown, wanted: unknown): boolean {
  if (typeof value === 'object' && typeof wanted === 'object') return JSON.stringify(value) === JSON.stringify(wanted)
  return isEqual(value, wanted)
}
