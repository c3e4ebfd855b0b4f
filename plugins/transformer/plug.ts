/** A sensor that computes raw data by an expression. */
import {
  compileCode,
  definePlug,
  formulasOf,
  isPlainObject,
  jsonFault,
  messageOf,
  problemsOfCode,
  readerOf,
  type Sandbox,
} from '#plug'

export function createTransformer(sandbox: Sandbox) {
  const compile = (text: string) => compileCode(text, sandbox)
  return definePlug({
    name: 'transformer',
    version: '1.1.0',
    compatible: '>=1.0.0 <3',
    kind: 'sensor',
    description:
      'Computes raw data by an expression that returns an object. Error, not a failure, when a value is missing or the result is not an object of plain JSON.',
    category: 'Data',
    parameters: [],
    states: ['Success', 'Error'],
    input: {
      transformer: {
        type: 'string',
        mandatory: true,
        format: { type: 'code' },
        description:
          'an expression that returns an object, over the values of the message, nodes.<label>.rawData and variables.<name>, or statements that end in one or return it; an object at the end needs brackets: ({ ... }). Reading and calculating takes about a microsecond; statements, functions and regular expressions run in the sandbox, which takes some milliseconds',
        example: '{ fahrenheit: temperature * 1.8 + 32 }',
      },
    },
    output: { error: { type: 'string', description: 'reason; only in state Error' } },
    openOutput: true,
    calculates({ transformer }) {
      const rawData = transformer === undefined ? undefined : formulasOf(transformer, 'streamdata')
      return rawData === undefined ? undefined : { rawData, otherwise: 'Success' }
    },
    check: ({ transformer }) => problemsOfCode('transformer', transformer, compile),
    prepare: ({ transformer }) => compile(transformer),
    execute(context) {
      try {
        const value = context.prepared.evaluate(readerOf(context), context.now, context)
        return value instanceof Promise ? value.then(resultOf, failed) : resultOf(value)
      } catch (error) {
        return failed(error)
      }
    },
  })
}

function resultOf(value: unknown) {
  if (isPlainObject(value)) {
    const fault = jsonFault(value, 'result')
    return fault === undefined
      ? ({ state: 'Success', rawData: value } as const)
      : failed(new Error(`the expression returned ${fault}`))
  }
  return failed(new Error('the expression does not return an object; use one such as { value: temperature * 2 }'))
}

function failed(error: unknown) {
  return { state: 'Error', rawData: { error: messageOf(error) } } as const
}
