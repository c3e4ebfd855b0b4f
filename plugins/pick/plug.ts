/** A sensor that takes some fields out of an object. */
import { definePlug, FORBIDDEN_KEYS, ownValue } from '#plug'

/** Some fields of an object. */
export const pick = definePlug({
  name: 'pick',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Takes some fields out of an object. Not Collected when it has none of them.',
  category: 'Data',
  parameters: [],
  states: ['Collected', 'Not Collected'],
  input: {
    object: {
      type: 'object',
      mandatory: true,
      description: 'the object, such as ${nodes.<label>.rawData}',
      example: { temperature: 21.5, humidity: 60 },
    },
    properties: {
      type: 'string',
      mandatory: true,
      description: 'names of the fields, with commas between them',
      example: 'temperature, humidity',
    },
  },
  output: { data: { type: 'object', description: 'the fields that the object has' } },
  check({ properties }) {
    if (properties === undefined || namesOf(properties).length > 0) return []
    return [
      {
        property: 'properties',
        message: 'properties names no field',
        suggestion: 'write names such as temperature, humidity',
      },
    ]
  },
  execute({ properties }) {
    const data: Record<string, unknown> = {}
    for (const name of namesOf(properties.properties)) {
      const value = ownValue(properties.object, name)
      if (value !== undefined) data[name] = value
    }
    return { state: Object.keys(data).length > 0 ? 'Collected' : 'Not Collected', rawData: { data } }
  },
})

function namesOf(list: string): readonly string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !FORBIDDEN_KEYS.has(name))
}
