/** A sensor that asks whether a value of the message, or of a node, equals a given one. */
import { AppError, definePlug, isEqual, isKnown, isOfMessage, namesOfParameter, parameterOf } from '#plug'

/** Whether a value of the message or of a node is what it should be. */
export const isParameterEqual = definePlug({
  name: 'isParameterEqual',
  version: '1.1.0',
  compatible: '>=0.0.1 <2',
  kind: 'sensor',
  description:
    'YES when a value of the message, or of the raw data of a node, equals the given one, else NO. A text and a number are equal when the text is that number as a plain decimal; two texts only letter by letter, and anything else only when it is of one kind. Without a value, or with null, it fails.',
  category: 'Data',
  parameters: namesOfParameter,
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
    value: { type: 'any', mandatory: true, description: 'what it should be', example: 21 },
  },
  output: { value: { type: 'any', description: 'the value that was found' } },
  execute(context) {
    const { node, parameter, value: wanted } = context.properties
    const value = parameterOf(context, node, parameter)
    if (!isKnown(value)) {
      const where = isOfMessage(node) ? 'the message' : `node "${node}"`
      throw new AppError(
        'PLUG_FAILED',
        `${where} has no value of "${parameter}"; ask isParameterAvailable first where it may be missing`,
      )
    }
    return { state: isSame(value, wanted) ? 'YES' : 'NO', rawData: { value } }
  },
})

function isSame(value: unknown, wanted: unknown): boolean {
  if (typeof value === 'object' && typeof wanted === 'object') return JSON.stringify(value) === JSON.stringify(wanted)
  return isEqual(value, wanted)
}
