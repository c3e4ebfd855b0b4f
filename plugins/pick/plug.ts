/** A sensor that picks some fields of an object. */
import { definePlug, FORBIDDEN_KEYS, ownValue } from '#plug'

export const pick = definePlug({
  name: 'pick',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Picks some fields of an object. Not Collected when all of them are missing.',
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
      description: 'names of the fields, separated by commas',
      example: 'temperature, humidity',
    },
  },
  output: { data: { type: 'object', description: 'the fields that the object has' } },
  check({ properties }) {
    if (properties === undefined || namesOf(properties).length > 0) return []
    return [
      {
        property: 'properties',
        message: 'properties is an empty list of fields',
        suggestion: 'use names such as temperature, humidity',
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
