/** Schemas of the API page as lines of text without titles, descriptions and examples. */
import { createHash } from 'node:crypto'
import { isPlainObject } from '../../src/kernel/json.ts'

export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly items?: JsonSchema
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  /** the service checks more than the schema can say */
  readonly 'x-check'?: boolean
}

/** keywords that have a place of their own in a line, or that are words for people */
const APART = new Set(['properties', 'required', 'items', 'anyOf', 'type', 'enum', 'additionalProperties'])
const WORDS = new Set(['title', 'description', 'example', 'examples'])

/** What a value of the schema is, in the line of its place; the places within it follow in lines of their own. */
export function* schemaLines(schema: JsonSchema, place = '', isRequired = true): Generator<string> {
  const { type = 'any', enum: values, additionalProperties: others } = schema
  const more = Object.entries(schema).flatMap(([key, value]) =>
    APART.has(key) || WORDS.has(key) ? [] : [`${key}=${JSON.stringify(value)}`],
  )
  const what = values === undefined ? String(schema.anyOf === undefined ? type : 'anyOf') : values.join('|')
  const open = others === undefined || isPlainObject(others) ? [] : [others ? 'open' : 'closed']
  yield [`${place || '.'}${isRequired ? '' : '?'}`, what, ...open, ...more.toSorted()].join(' ')
  for (const [name, one] of Object.entries(schema.properties ?? {}).toSorted(byName))
    yield* schemaLines(one, `${place}.${name}`, schema.required?.includes(name) === true)
  if (isPlainObject(others) && Object.keys(others).length > 0) yield* schemaLines(others, `${place}.*`)
  if (schema.items !== undefined) yield* schemaLines(schema.items, `${place}[]`)
  for (const [at, one] of (schema.anyOf ?? []).entries()) yield* schemaLines(one, `${place}/${at}`)
}

const digests = new WeakMap<JsonSchema, string>()

/** A name for what a schema says, the same for schemas that say the same. */
export function digestOf(schema: JsonSchema): string {
  const text = () => [...schemaLines(schema)].join('\n')
  const digest = digests.get(schema) ?? createHash('sha256').update(text()).digest('hex').slice(0, 8)
  digests.set(schema, digest)
  return digest
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}
