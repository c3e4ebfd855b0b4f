/** Values at, below and beyond each limit of a schema, made of the schema and a value that it accepts. */
import { isPlainObject } from '../../src/kernel/json.ts'
import type { JsonSchema } from './json-schema.ts'

/** A value with one place changed, and what was changed there. */
export interface Bad {
  readonly label: string
  readonly value: unknown
}

/** How deep fields within fields are tried. */
const LEVELS = 3
/** Longer texts and lists are not made. */
const MAX_MADE = 20_000
/** length of a text for which the schema has no limit */
const LONG = 10_001

/** Values of other types. */
const WRONG_TYPES: Readonly<Record<string, readonly unknown[]>> = {
  string: [null, 7],
  number: [null, 'zz'],
  integer: ['zz', 1.5],
  boolean: [null, 'zz'],
  object: [null, []],
  array: [null, {}],
}

/** The values to try in place of the right one; `takes`: whether a schema accepts a value. */
export function* badValues(schema: JsonSchema, right: unknown, takes: Takes): Generator<Bad> {
  for (const value of [null, [], {}, 'zz', 7]) yield { label: JSON.stringify(value), value }
  yield* within(schema, right, '', LEVELS, takes)
}

type Takes = (schema: JsonSchema, value: unknown) => boolean

function* within(schema: JsonSchema, right: unknown, path: string, levels: number, takes: Takes): Generator<Bad> {
  const one = alternative(schema, right, takes)
  if (isPlainObject(right)) {
    const { properties = {}, required = [] } = one
    const put = (name: string, value: unknown) => ({ ...right, [name]: value })
    for (const name of required)
      if (name in right) {
        const { [name]: _gone, ...rest } = right
        yield { label: `${path}/${name} is missing`, value: rest }
      }
    yield { label: `${path}/zzz is unknown`, value: put('zzz', 1) }
    for (const [name, field] of Object.entries(properties)) {
      const place = `${path}/${name}`
      for (const { label, value } of wrongAt(field, place)) yield { label, value: put(name, value) }
      if (levels === 0) continue
      const base = right[name] ?? sampleOf(field)
      for (const { label, value } of within(field, base, place, levels - 1, takes))
        yield { label, value: put(name, value) }
    }
  }
  if (Array.isArray(right) && one.items !== undefined) {
    const item: unknown = right[0] ?? sampleOf(one.items)
    const others: readonly unknown[] = right.slice(1)
    const put = (value: unknown) => [value, ...others]
    for (const { label, value } of wrongAt(one.items, `${path}/0`)) yield { label, value: put(value) }
    for (const { label, value } of within(one.items, item, `${path}/0`, levels, takes))
      yield { label, value: put(value) }
  }
}

/** The form of the schema that accepts the value. */
function alternative(schema: JsonSchema, value: unknown, takes: Takes): JsonSchema {
  const { anyOf = [] } = schema
  return anyOf.find((form) => takes(form, value)) ?? anyOf[0] ?? schema
}

/** Wrong types of a place, and values at its limits and beyond them. */
function* wrongAt(schema: JsonSchema, place: string): Generator<Bad> {
  const forms = schema.anyOf ?? [schema]
  const bad = (what: string, value: unknown): Bad => ({ label: `${place} ${what}`, value })
  const types = new Set(forms.flatMap(({ type = [] }) => type))
  for (const value of WRONG_TYPES[[...types][0] ?? (forms[0]?.enum ? 'string' : '')] ?? [])
    if (!types.has(typeOf(value))) yield bad(`= ${JSON.stringify(value)}`, value)
  for (const form of forms) {
    if (form.enum !== undefined) {
      yield bad('= "zz"', 'zz')
      const first = form.enum.find((one) => typeof one === 'string')
      if (first !== undefined && first !== otherCase(first)) yield bad('in the other case', otherCase(first))
    } else if (form.type === 'string') yield* textsAt(form, bad)
    else if (form.type === 'number' || form.type === 'integer') yield* numbersAt(form, bad)
    else if (form.type === 'array') yield* listsAt(form, bad)
    else if (form.maxProperties !== undefined && form.maxProperties < MAX_MADE)
      yield bad(
        'has too many fields',
        Object.fromEntries(Array.from({ length: form.maxProperties + 1 }, (_, at) => [`f${at}`, '1'])),
      )
  }
}

type Make = (what: string, value: unknown) => Bad

function* textsAt({ minLength, maxLength, pattern, format }: JsonSchema, bad: Make): Generator<Bad> {
  yield bad('is empty', '')
  if (minLength !== undefined && minLength > 1) yield bad('is too short', 'x'.repeat(minLength - 1))
  if (pattern !== undefined || format !== undefined) yield bad('= "?!"', '?!')
  if (maxLength === undefined) yield bad('is long', 'x'.repeat(LONG))
  else if (maxLength < MAX_MADE) {
    yield bad('is as long as can be', 'x'.repeat(maxLength))
    yield bad('is too long', 'x'.repeat(maxLength + 1))
  }
}

function* numbersAt({ minimum, exclusiveMinimum, maximum }: JsonSchema, bad: Make): Generator<Bad> {
  if (minimum !== undefined) yield bad('is the least', minimum)
  yield bad('is too small', exclusiveMinimum ?? (minimum === undefined ? -1 : minimum - 1))
  if (maximum !== undefined) yield bad('is the most', maximum)
  yield bad('is too large', maximum === undefined ? 1e15 : maximum + 1)
}

function* listsAt({ minItems, maxItems, items = {} }: JsonSchema, bad: Make): Generator<Bad> {
  yield bad('has no items', [])
  const of = (length: number) => Array.from({ length }, () => sampleOf(items))
  if (minItems !== undefined && minItems > 1) yield bad('has too few items', of(minItems - 1))
  if (maxItems !== undefined && maxItems < MAX_MADE) yield bad('has too many items', of(maxItems + 1))
}

/** The smallest value of a schema, as far as its types say. */
function sampleOf(schema: JsonSchema): unknown {
  const { anyOf, enum: values, type, properties = {}, required = [], minItems = 0, items = {} } = schema
  if (anyOf?.[0] !== undefined) return sampleOf(anyOf[0])
  if (values !== undefined) return values[0]
  if (type === 'string') return 'x'.repeat(Math.max(1, schema.minLength ?? 1))
  if (type === 'number' || type === 'integer') return schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1
  if (type === 'boolean') return true
  if (type === 'array') return Array.from({ length: minItems }, () => sampleOf(items))
  if (type === 'object') return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]))
  return null
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function otherCase(text: string): string {
  return text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase()
}

/** Texts of a parameter: of other types, and at and beyond its limits. */
export function* badParameters(schema: JsonSchema): Generator<string> {
  const forms = schema.anyOf ?? [schema.items ?? schema]
  if (forms.some(({ type, maxLength, enum: values }) => type === 'string' && !values && maxLength === undefined)) return
  yield 'zz'
  for (const { type, minimum, exclusiveMinimum, maximum, maxLength } of forms) {
    if (type === 'integer') yield '1.5'
    if (exclusiveMinimum !== undefined) yield String(exclusiveMinimum)
    if (minimum !== undefined) yield* [minimum, minimum - 1].map(String)
    if (maximum !== undefined) yield* [maximum, maximum + 1].map(String)
    if (maxLength !== undefined) yield* ['x'.repeat(maxLength), 'x'.repeat(maxLength + 1)]
  }
}

/** What the text of a parameter stands for. */
export function parameterValue(schema: JsonSchema, text: string): unknown {
  if (schema.items !== undefined) return [parameterValue(schema.items, text)]
  const types = new Set((schema.anyOf ?? [schema]).flatMap(({ type = [] }) => type))
  if ((types.has('integer') || types.has('number')) && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text)
  return types.has('boolean') && /^(?:true|false)$/.test(text) ? text === 'true' : text
}
