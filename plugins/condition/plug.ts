import { compileCondition, definePlug, problemsOfCode, readerOf } from '../../src/plug.ts'

/** `True` or `False` by an expression or a JSON Logic condition over the message, other nodes and variables. */
export const condition = definePlug({
  name: 'condition',
  version: '1.1.0',
  kind: 'sensor',
  description:
    'True when an expression or a JSON Logic condition holds, else False. To compare or calculate with a value that is missing is an error.',
  category: 'Logic',
  states: ['True', 'False'],
  input: {
    condition: {
      type: 'any',
      mandatory: true,
      format: { type: 'code' },
      description:
        'an expression over the values of the message, nodes.<label>.state and variables.<name>, or JSON Logic over the same such as {">": [{"var": "temperature"}, 25]}',
      example: 'temperature > 25',
    },
  },
  check: ({ condition: given }) => problemsOfCode('condition', given, compileCondition),
  prepare: (properties) => compileCondition(properties.condition),
  execute: (context) => (context.prepared.holds(readerOf(context), context.now) ? 'True' : 'False'),
})
