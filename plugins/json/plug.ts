/** A sensor that parses a JSON object to raw data. */
import { definePlug, isPlainObject, messageOf, parsePlainJson } from '#plug'

export const json = definePlug({
  name: 'JSON',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Parses the text of a JSON object to raw data. Any other text is the state error, not a failure.',
  category: 'Data',
  parameters: [],
  states: ['done', 'error'],
  input: {
    message: {
      type: 'string',
      mandatory: true,
      description: 'the text of a JSON object',
      example: '{"temperature": 21.5}',
    },
  },
  output: { error: { type: 'string', description: 'reason; only in state error' } },
  openOutput: true,
  execute({ properties }) {
    try {
      const value = parsePlainJson(properties.message)
      return isPlainObject(value) ? { state: 'done', rawData: value } : failed('it is JSON, but not an object')
    } catch (error) {
      return failed(messageOf(error))
    }
  },
})

function failed(reason: string) {
  return { state: 'error', rawData: { error: `the message is not a JSON object: ${reason}` } } as const
}
