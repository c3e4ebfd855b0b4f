/** A sensor that asks whether a value of the message, or of a node, equals a given one. */
import { AppError, definePlug, isOfMessage, namesOfParameter, numberOfText, parameterOf } from '../../src/plug.ts'

/** Whether a value of the message or of a node is what it should be. */
export const isParameterEqual = definePlug({
  name: 'isParameterEqual',
  version: '1.1.0',
  compatible: '>=0.0.1 <2',
  kind: 'sensor',
  description:
    'YES when a value of the message, or of the raw data of a node, equals the given one, else NO. Numbers and numeric text are equal when their numbers are. Without the value it fails.',
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
    if (value === undefined) {
      const where = isOfMessage(node) ? 'the message' : `node "${node}"`
      throw new AppError(
        'PLUG_FAILED',
        `${where} has no "${parameter}"; ask isParameterAvailable first where it may be missing`,
      )
    }
    return { state: isSame(value, wanted) ? 'YES' : 'NO', rawData: { value } }
  },
})

function isSame(value: unknown, wanted: unknown): boolean {
  if (value === wanted) return true
  const [a, b] = [numberOf(value), numberOf(wanted)]
  if (a !== undefined && b !== undefined) return a === b
  if (typeof value === 'object' && typeof wanted === 'object') return JSON.stringify(value) === JSON.stringify(wanted)
  return typeof value === 'boolean' && String(value) === wanted
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : numberOfText(value)
}
