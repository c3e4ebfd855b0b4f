/** Converts constraints to JSON Schema, draft 7. */
import type { Attribute, AttributeType, Of } from './constraint-schema.ts'

type JsonSchema = Readonly<Record<string, unknown>>

export function schemaOf(attributes: readonly Attribute[]): JsonSchema {
  return { $schema: 'http://json-schema.org/draft-07/schema#', ...objectSchema(attributes) }
}

export function objectSchema(attributes: readonly Attribute[]): JsonSchema & { readonly properties?: JsonSchema } {
  const required = attributes.filter((attribute) => attribute.required).map(({ name }) => name)
  return {
    type: 'object',
    ...(attributes.length > 0 && {
      properties: Object.fromEntries(attributes.map(({ name, type }) => [name, typeSchema(type)])),
    }),
    ...(required.length > 0 && { required }),
  }
}

export function typeSchema(type: AttributeType): JsonSchema {
  switch (type.type) {
    case 'numeric':
      return { ...type, type: 'number' }
    case 'string':
    case 'boolean':
      return { ...type }
    case 'enum':
      return { type: type.enumType === 'numeric' ? 'number' : 'string', enum: type.items }
    case 'resourceRef':
      return {
        type: 'object',
        properties: { $ref: { type: 'string', pattern: '^/resources/.' } },
        required: ['$ref', ...(type.attributes ?? [])],
      }
    case 'object':
      return objectSchema(type.attributes ?? [])
    case 'array':
      return arraySchema(type)
  }
}

function arraySchema(type: Of<'array'>): JsonSchema {
  const { elementType, minLength, maxLength, uniqueValues, contains = [] } = type
  return {
    type: 'array',
    ...(elementType && { items: typeSchema(elementType) }),
    ...(minLength !== undefined && { minItems: minLength }),
    ...(maxLength !== undefined && { maxItems: maxLength }),
    ...(uniqueValues === true && { uniqueItems: true }),
    // a schema allows only one `contains`
    ...(contains.length > 0 && { allOf: contains.map((value) => ({ contains: { const: value } })) }),
  }
}
