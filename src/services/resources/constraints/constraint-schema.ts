/** Schemas of resource constraints, with limits. */
import { type TProperties, type TSchema, Type } from 'typebox'
import { FORBIDDEN_KEYS, isPlainObject, ownValue, refusedBy } from '#kernel'
import { checked, type Checked, closed, type Problem, readOnly, refined } from '#services/shared/contract'
import type { CollectionSpec } from '#storage'
import { wordsOf } from '../attributes.ts'

export interface Attribute {
  readonly name: string
  readonly required: boolean
  readonly type: AttributeType
}

export type AttributeType =
  | { readonly type: 'numeric'; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: 'string'; readonly minLength?: number; readonly maxLength?: number }
  | { readonly type: 'boolean' }
  | { readonly type: 'enum'; readonly enumType: 'numeric' | 'string'; readonly items: readonly (number | string)[] }
  | {
      readonly type: 'resourceRef'
      /** keys required in addition to `$ref` */
      readonly attributes?: readonly string[]
      readonly resourceTypes?: readonly string[]
      readonly exists?: boolean
    }
  | { readonly type: 'object'; readonly attributes?: readonly Attribute[] }
  | {
      readonly type: 'array'
      readonly elementType?: AttributeType
      readonly minLength?: number
      readonly maxLength?: number
      readonly uniqueValues?: boolean
      readonly contains?: readonly (number | string | boolean)[]
    }

export type Of<T extends AttributeType['type']> = Extract<AttributeType, { readonly type: T }>

const MAX_ITEMS = 1_000
const MAX_LEVELS = 10

const name = Type.String({ minLength: 1 })
const size = Type.Optional(Type.Integer({ minimum: 0 }))
const bound = Type.Optional(Type.Number())
const flag = Type.Optional(Type.Boolean())
/** the store indexes texts up to 2,000 bytes */
const tag = Type.String({ minLength: 1, maxLength: 500 })
const texts = Type.Optional(Type.Array(name, { maxItems: MAX_ITEMS }))
const scalar = Type.Union([Type.Number(), Type.String(), Type.Boolean()])

const PARAMETERS: Readonly<Record<AttributeType['type'], TProperties>> = {
  numeric: { minimum: bound, maximum: bound },
  string: { minLength: size, maxLength: size },
  boolean: {},
  enum: {
    enumType: Type.Enum(['numeric', 'string']),
    items: Type.Array(Type.Union([Type.Number(), Type.String()]), { minItems: 1, maxItems: MAX_ITEMS }),
  },
  resourceRef: { attributes: texts, resourceTypes: texts, exists: flag },
  object: { attributes: Type.Optional(Type.Array(Type.Unknown(), { maxItems: MAX_ITEMS })) },
  array: {
    elementType: Type.Optional(Type.Object({}, { additionalProperties: true })),
    minLength: size,
    maxLength: size,
    uniqueValues: flag,
    contains: Type.Optional(Type.Array(scalar, { maxItems: MAX_ITEMS })),
  },
}
const OPTIONS = { subject: 'the constraint', type: 'ATTRIBUTE' }
const FORMS = Object.entries(PARAMETERS).map(([form, parameters]) =>
  closed({ type: Type.Literal(form), ...parameters }),
)
const FORM_OF = new Map<unknown, Checked>(FORMS.map((form) => [form.properties.type.const, checked(form, OPTIONS)]))

function attributeSchema(type: TSchema) {
  return closed({ name, required: Type.Boolean(), type })
}

function constraintSchema(attribute: TSchema) {
  const fields = {
    ...readOnly(['id']),
    name,
    description: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Array(tag, { maxItems: MAX_ITEMS })),
    attributes: Type.Unsafe<readonly Attribute[]>(Type.Array(attribute, { maxItems: MAX_ITEMS })),
  }
  return closed(fields, { title: 'Constraint' })
}

const AnyType = Type.Object({ type: Type.Enum(Object.keys(PARAMETERS)) }, { additionalProperties: true })
const anyType = checked(AnyType, OPTIONS)
const anyAttribute = checked(attributeSchema(AnyType), OPTIONS)
const { read } = checked(
  refined(constraintSchema(attributeSchema(AnyType)), (body) => [
    ...attributesProblems(ownValue(body, 'attributes'), '/attributes', 0),
  ]),
  OPTIONS,
)
export const Constraint = { schema: constraintSchema(attributeSchema(Type.Union(FORMS))), read }

function* attributesProblems(attributes: unknown, path: string, level: number): Generator<Problem> {
  if (!Array.isArray(attributes)) return
  const names = new Set<unknown>()
  for (const [i, attribute] of attributes.slice(0, MAX_ITEMS).entries()) {
    const attributePath = `${path}/${i}`
    yield* problemsBy(anyAttribute, attribute, attributePath)
    const name = ownValue(attribute, 'name')
    if (FORBIDDEN_KEYS.has(String(name)))
      yield { at: `${attributePath}/name`, message: `"${String(name)}" is not allowed` }
    if (names.has(name))
      yield {
        at: `${attributePath}/name`,
        message: `"${String(name)}" occurs twice`,
        suggestion: 'name each attribute once',
      }
    if (name !== undefined) names.add(name)
    yield* typeProblems(ownValue(attribute, 'type'), `${attributePath}/type`, level)
  }
}

function* typeProblems(type: unknown, path: string, level: number): Generator<Problem> {
  if (level > MAX_LEVELS) {
    yield { at: path, message: `nests deeper than ${MAX_LEVELS} levels` }
    return
  }
  yield* problemsBy(FORM_OF.get(ownValue(type, 'type')) ?? anyType, type, path)
  if (!isPlainObject(type)) return
  for (const [low, high] of [
    ['minimum', 'maximum'],
    ['minLength', 'maxLength'],
  ] as const) {
    if (Number(type[low]) > Number(type[high]))
      yield { at: `${path}/${low}`, message: `${String(type[low])} is above ${high} ${String(type[high])}` }
  }
  const { items, enumType, elementType } = type
  const wanted = enumType === 'numeric' ? 'number' : 'string'
  for (const [i, item] of (Array.isArray(items) ? items : []).entries())
    if (type['type'] === 'enum' && typeof item !== wanted)
      yield { at: `${path}/items/${i}`, message: `is not a ${wanted}` }
  if (type['type'] === 'object') yield* attributesProblems(type['attributes'], `${path}/attributes`, level + 1)
  if (type['type'] === 'array' && elementType !== undefined)
    yield* typeProblems(elementType, `${path}/elementType`, level + 1)
}

function problemsBy({ read }: Checked, value: unknown, path: string): readonly Problem[] {
  return refusedBy(() => read(value)).map(({ path: within, message, suggestion }) => ({
    at: `${path}${within}`,
    message,
    ...(suggestion !== undefined && { suggestion }),
  }))
}

export interface ConstraintRecord {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly attributes: readonly Attribute[]
}

export const CONSTRAINTS: CollectionSpec<ConstraintRecord> = {
  name: 'resource_constraints',
  version: 1,
  audited: true,
  fields: {
    tags: { type: 'texts', of: ({ tags = [] }) => tags },
    words: {
      type: 'text',
      of: ({ name, description = '', tags = [] }) => wordsOf([name, ...tags, description]),
    },
  },
}
