/** A sensor that makes raw data of the text of a JSON object. */
import { definePlug, isPlainObject, messageOf, parsePlainJson } from '#plug'

/** Makes raw data of JSON text: `done`, or `error` when it is no JSON object. */
export const json = definePlug({
  name: 'JSON',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Makes raw data of the text of a JSON object. Gives error, and no failure, for any other text.',
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
  output: { error: { type: 'string', description: 'why the text could not be used; only in state error' } },
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
