/** Makes one JSON Schema of rules and templates with the properties of all plugs, for editors. */
import { DURATION_PATTERN, isPlainObject } from '#kernel'
import type { FieldType, InputField, Plug, PlugKind } from '../plug/plug.ts'
import { RuleSchema, TemplateSchema } from './rule-schema.ts'

type Schema = Readonly<Record<string, unknown>>

const PLACEHOLDER = String.raw`\$\{|^\$\w|^META\.`
/** A text where a property wants something else: a placeholder, or JSON. */
const PLACED = { type: 'string', pattern: PLACEHOLDER }
const DECIMAL = { type: 'string', pattern: String.raw`^-?(0|[1-9]\d*)(\.\d+)?$` }

/** The schema accepts what a rule may contain; labels and states that belong together are for `reflexarc check`. */
export function plugsSchema(plugs: readonly Plug[]): Schema {
  const definitions = { sensor: nodeSchema('sensor', plugs), actuator: nodeSchema('actuator', plugs) }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'rule or template of Reflexarc',
    if: { required: ['name'] },
    then: withNodes(plain(TemplateSchema)),
    else: withNodes(plain(RuleSchema)),
    definitions,
  }
}

function withNodes(schema: Schema): Schema {
  const { properties } = schema
  if (!isPlainObject(properties)) return schema
  const listOf = (kind: PlugKind, list: unknown): Schema => ({
    ...(isPlainObject(list) ? list : {}),
    items: { $ref: `#/definitions/${kind}` },
  })
  return {
    ...schema,
    properties: {
      $schema: { type: 'string' },
      ...properties,
      sensors: listOf('sensor', properties['sensors']),
      actuators: listOf('actuator', properties['actuators']),
    },
    additionalProperties: false,
  }
}

function nodeSchema(kind: PlugKind, plugs: readonly Plug[]): Schema {
  const own = newest(plugs.filter((plug) => plug.kind === kind))
  const base = plain(itemsOf(kind === 'sensor' ? RuleSchema.properties.sensors : RuleSchema.properties.actuators))
  const properties = isPlainObject(base['properties']) ? base['properties'] : {}
  return {
    ...base,
    properties: {
      ...properties,
      name: { oneOf: own.map(({ name, description = '' }) => ({ const: name, description })) },
    },
    additionalProperties: false,
    allOf: own.map((plug) => ({
      if: { properties: { name: { const: plug.name } }, required: ['name'] },
      then: ofPlug(plug),
    })),
  }
}

function itemsOf(list: unknown): unknown {
  return isPlainObject(list) ? list['items'] : undefined
}

/** The last of each name. */
function newest(plugs: readonly Plug[]): readonly Plug[] {
  return [...new Map(plugs.map((plug) => [plug.name, plug])).values()]
}

function ofPlug({ input, description }: Plug): Schema {
  const fields = Object.entries(input)
  const required = fields.flatMap(([name, { mandatory }]) => (mandatory === true ? [name] : []))
  const properties = {
    type: 'object',
    ...(description !== undefined && { description }),
    properties: Object.fromEntries(fields.map(([name, field]) => [name, fieldSchema(field)])),
    required,
    additionalProperties: false,
  }
  return { properties: { properties }, ...(required.length > 0 && { required: ['properties'] }) }
}

function fieldSchema(field: InputField): Schema {
  const { description, defaultValue, example } = field
  return {
    ...(description !== undefined && { description }),
    ...(defaultValue !== undefined && { default: defaultValue }),
    ...(example !== undefined && { examples: [example] }),
    ...valueSchema(field),
  }
}

function valueSchema({ type, format, mandatory }: InputField): Schema {
  const absent = mandatory === true ? [] : [{ type: 'null' }]
  if (format?.values !== undefined) return { anyOf: [{ enum: format.values }, PLACED, ...absent] }
  if (format?.type === 'duration') return { anyOf: [{ type: 'string', pattern: DURATION_PATTERN }, PLACED, ...absent] }
  const known = TYPES[type]
  return known.length === 0 ? {} : { anyOf: [...known, ...absent] }
}

const TYPES: Readonly<Record<FieldType, readonly Schema[]>> = {
  string: [{ type: ['string', 'number', 'boolean'] }],
  integer: [{ type: 'integer' }, DECIMAL, PLACED],
  long: [{ type: 'integer' }, DECIMAL, PLACED],
  float: [{ type: 'number' }, DECIMAL, PLACED],
  double: [{ type: 'number' }, DECIMAL, PLACED],
  boolean: [{ type: 'boolean' }, { enum: ['true', 'false'] }, PLACED],
  object: [{ type: ['object', 'string'] }],
  array: [{ type: ['array', 'string'] }],
  json: [{ type: ['object', 'array', 'string'] }],
  any: [],
}

/** Without what only our own check reads. */
function plain(schema: unknown): Schema {
  const copy: unknown = JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (key.startsWith('x-') ? undefined : value)),
  )
  return isPlainObject(copy) ? copy : {}
}
