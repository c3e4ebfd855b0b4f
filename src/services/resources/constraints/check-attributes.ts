/** Holds attributes against what constraints say of them; every failure comes with the keyword of JSON Schema for it. */
import { at, isPlainObject, type Json, ownValue, sameJson } from '#kernel'
import { referredId } from '../resource-record.ts'
import type { Attribute, AttributeType, Of } from './constraint-schema.ts'

export interface Failure {
  /** JSON pointer */
  readonly path: string
  readonly keyword: string
  readonly message: string
  /** what failed; undefined when it is missing */
  readonly value: unknown
}

const MAX_FAILURES = 100
/** failures are found by looking at every pair, which a long list would make slow */
const MAX_PAIRED = 1_000
const MAX_SHOWN = 20

export function checkAttributes(attributes: readonly Attribute[], value: object): readonly Failure[] {
  const failures: Failure[] = []
  for (const failure of failuresOf(attributes, value, '')) {
    failures.push(failure)
    if (failures.length >= MAX_FAILURES) break
  }
  return failures
}

function* failuresOf(attributes: readonly Attribute[], value: object, path: string): Generator<Failure> {
  for (const { name, required, type } of attributes) {
    if (Object.hasOwn(value, name)) yield* typeFailures(type, ownValue(value, name), at(path, name), name)
    else if (required) yield missing(at(path, name), name)
  }
}

const isText = (value: unknown): boolean => typeof value === 'string'
const KINDS: Readonly<Record<Exclude<AttributeType['type'], 'enum'>, readonly [string, (value: unknown) => boolean]>> =
  {
    numeric: ['a number', (value) => typeof value === 'number'],
    string: ['a string', isText],
    boolean: ['a boolean', (value) => typeof value === 'boolean'],
    resourceRef: ['a reference to a resource', isPlainObject],
    object: ['an object', isPlainObject],
    array: ['a list', Array.isArray],
  }

/** `name`: of the property, in texts. */
function* typeFailures(type: AttributeType, value: unknown, path: string, name: string): Generator<Failure> {
  const fail = (keyword: string, must: string): Failure => failure(path, keyword, name, must, value)
  if (type.type === 'enum') {
    if (!type.items.some((item) => item === value)) yield fail('enum', `must be one of ${shown(type.items)}.`)
    return
  }
  const [expected, isOfKind] = KINDS[type.type]
  if (!isOfKind(value)) {
    yield fail('type', `must be ${expected}.`)
    return
  }
  if (type.type === 'numeric') {
    const { minimum = -Infinity, maximum = Infinity } = type
    if (Number(value) < minimum) yield fail('minimum', `must be at least ${minimum}.`)
    if (Number(value) > maximum) yield fail('maximum', `must be at most ${maximum}.`)
  } else if (type.type === 'string') {
    const { minLength = 0, maxLength = Infinity } = type
    const text = String(value)
    const length = text.length > maxLength || minLength > 0 ? lengthOf(text) : 0
    const characters = (count: number): string => `${count} character${count === 1 ? '' : 's'}.`
    if (length < minLength) yield fail('minLength', `must have at least ${characters(minLength)}`)
    if (length > maxLength) yield fail('maxLength', `must have at most ${characters(maxLength)}`)
  } else if (type.type === 'resourceRef') yield* referenceFailures(type, value as object, path)
  else if (type.type === 'object') yield* failuresOf(type.attributes ?? [], value as object, path)
  else if (type.type === 'array') yield* listFailures(type, value as readonly unknown[], path, name)
}

function* referenceFailures({ attributes = [] }: Of<'resourceRef'>, value: object, path: string): Generator<Failure> {
  const [target, place] = [ownValue(value, '$ref'), `${path}/$ref`]
  if (target === undefined) yield missing(place, '$ref')
  else if (!isText(target)) yield failure(place, 'type', '$ref', 'must be a string.', target)
  else if (!referredId(value))
    yield failure(place, 'pattern', '$ref', 'must begin with /resources/ and name a resource.', target)
  for (const key of attributes) if (!Object.hasOwn(value, key)) yield missing(at(path, key), key)
}

function* listFailures(
  { minLength = 0, maxLength = Infinity, uniqueValues = false, contains = [], elementType }: Of<'array'>,
  values: readonly unknown[],
  path: string,
  name: string,
): Generator<Failure> {
  const fail = (keyword: string, must: string): Failure => failure(path, keyword, name, must, values)
  if (values.length < minLength) yield fail('minItems', `must have at least ${minLength} values.`)
  if (values.length > maxLength) yield fail('maxItems', `must have at most ${maxLength} values.`)
  if (uniqueValues && !areUnique(values)) yield fail('uniqueItems', `must not have a value twice.`)
  for (const wanted of contains)
    if (!values.includes(wanted)) yield fail('contains', `must contain ${JSON.stringify(wanted)}.`)
  if (elementType === undefined) return
  for (const [i, each] of values.entries()) yield* typeFailures(elementType, each, `${path}/${i}`, `${name}[${i}]`)
}

function failure(path: string, keyword: string, name: string, must: string, value: unknown): Failure {
  return { path, keyword, message: `Property ${name} ${must}`, value }
}

function missing(path: string, name: string): Failure {
  return failure(path, 'required', name, 'missing.', undefined)
}

function shown(items: readonly unknown[]): string {
  const texts = items.slice(0, MAX_SHOWN).map((item) => JSON.stringify(item))
  return `${texts.join(', ')}${items.length > MAX_SHOWN ? ' ...' : ''}`
}

/** characters as JSON Schema counts them */
function lengthOf(text: string): number {
  let length = 0
  for (const _character of text) length += 1
  return length
}

function areUnique(values: readonly unknown[]): boolean {
  const scalars = values.filter((value) => typeof value !== 'object' || value === null)
  if (new Set(scalars).size !== scalars.length) return false
  const others = values.filter((value): value is object => typeof value === 'object' && value !== null)
  if (others.length > MAX_PAIRED) return new Set(others.map((other) => JSON.stringify(other))).size === others.length
  return others.every((other, i) => others.slice(0, i).every((before) => !sameJson(before as Json, other as Json)))
}
