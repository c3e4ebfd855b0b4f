import { compileExpression, definePlug, isPlainObject, messageOf, problemsOfCode, readerOf } from '../../src/plug.ts'

/** Raw data made by an expression. */
export const transformer = definePlug({
  name: 'transformer',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'Makes raw data by an expression that gives an object. Gives Error, and no failure, when a value is missing or the result is no object.',
  category: 'Data',
  states: ['Success', 'Error'],
  input: {
    transformer: {
      type: 'string',
      mandatory: true,
      format: { type: 'code' },
      description:
        'an expression that gives an object, over the values of the message, nodes.<label>.rawData and variables.<name>',
      example: '{ fahrenheit: temperature * 1.8 + 32 }',
    },
  },
  output: { error: { type: 'string', description: 'why there is no object; only in state Error' } },
  openOutput: true,
  check: ({ transformer: text }) => problemsOfCode('transformer', text, compileExpression),
  prepare: (properties) => compileExpression(properties.transformer),
  execute(context) {
    try {
      const value = context.prepared.evaluate(readerOf(context), context.now)
      if (isPlainObject(value)) return { state: 'Success', rawData: value }
      return {
        state: 'Error',
        rawData: { error: 'the expression gives no object; write one such as { value: temperature * 2 }' },
      }
    } catch (error) {
      return { state: 'Error', rawData: { error: messageOf(error) } }
    }
  },
})
