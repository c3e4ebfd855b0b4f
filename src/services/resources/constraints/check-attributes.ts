/** Holds attributes against what constraints say of them; every failure comes with the keyword of JSON Schema for it. */
import { at, isPlainObject, type Json, sameJson } from '#kernel'
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

export function checkAttributes(attributes: readonly Attribute[], value: object): readonly Failure[] {
  const check = new Check()
  check.attributes(attributes, value as Readonly<Record<string, unknown>>, '')
  return check.failures
}

class Check {
  readonly failures: Failure[] = []

  attributes(attributes: readonly Attribute[], value: Readonly<Record<string, unknown>>, path: string): void {
    for (const { name, required, type } of attributes) {
      const isThere = Object.hasOwn(value, name)
      if (!isThere && !required) continue
      const place = at(path, name)
      if (isThere) this.type(type, value[name], place, name)
      else this.#fail(place, 'required', `Property ${name} missing.`, undefined)
    }
  }

  type(type: AttributeType, value: unknown, path: string, name: string): void {
    switch (type.type) {
      case 'numeric':
        return this.#numeric(type, value, path, name)
      case 'string':
        return this.#string(type, value, path, name)
      case 'boolean':
        return void (typeof value === 'boolean' || this.#wrongType(path, name, 'a boolean', value))
      case 'enum':
        if (type.items.some((item) => item === value)) return
        return this.#fail(path, 'enum', `Property ${name} must be one of ${shown(type.items)}.`, value)
      case 'resourceRef':
        return this.#reference(type, value, path, name)
      case 'object':
        if (!isPlainObject(value)) return this.#wrongType(path, name, 'an object', value)
        return this.attributes(type.attributes ?? [], value, path)
      case 'array':
        return this.#array(type, value, path, name)
    }
  }

  #numeric(type: Of<'numeric'>, value: unknown, path: string, name: string): void {
    if (typeof value !== 'number') return this.#wrongType(path, name, 'a number', value)
    const { minimum = -Infinity, maximum = Infinity } = type
    if (value < minimum) this.#fail(path, 'minimum', `Property ${name} must be at least ${minimum}.`, value)
    if (value > maximum) this.#fail(path, 'maximum', `Property ${name} must be at most ${maximum}.`, value)
  }

  #string(type: Of<'string'>, value: unknown, path: string, name: string): void {
    if (typeof value !== 'string') return this.#wrongType(path, name, 'a string', value)
    const { minLength = 0, maxLength = Infinity } = type
    const length = value.length > maxLength || minLength > 0 ? lengthOf(value) : 0
    const characters = (count: number): string => `${count} character${count === 1 ? '' : 's'}`
    if (length < minLength) {
      this.#fail(path, 'minLength', `Property ${name} must have at least ${characters(minLength)}.`, value)
    }
    if (length > maxLength) {
      this.#fail(path, 'maxLength', `Property ${name} must have at most ${characters(maxLength)}.`, value)
    }
  }

  #reference(type: Of<'resourceRef'>, value: unknown, path: string, name: string): void {
    if (!isPlainObject(value)) return this.#wrongType(path, name, 'a reference to a resource', value)
    const target: unknown = Object.hasOwn(value, '$ref') ? value['$ref'] : undefined
    if (target === undefined) this.#fail(`${path}/$ref`, 'required', `Property $ref missing.`, undefined)
    else if (typeof target !== 'string') this.#wrongType(`${path}/$ref`, '$ref', 'a string', target)
    else if (!referredId(value)) {
      this.#fail(`${path}/$ref`, 'pattern', `Property $ref must begin with /resources/ and name a resource.`, target)
    }
    for (const key of type.attributes ?? []) {
      if (Object.hasOwn(value, key)) continue
      this.#fail(at(path, key), 'required', `Property ${key} missing.`, undefined)
    }
  }

  #array(type: Of<'array'>, value: unknown, path: string, name: string): void {
    if (!Array.isArray(value)) return this.#wrongType(path, name, 'a list', value)
    const values: readonly unknown[] = value
    const { minLength = 0, maxLength = Infinity, uniqueValues = false, contains = [], elementType } = type
    if (values.length < minLength) {
      this.#fail(path, 'minItems', `Property ${name} must have at least ${minLength} values.`, value)
    }
    if (values.length > maxLength) {
      this.#fail(path, 'maxItems', `Property ${name} must have at most ${maxLength} values.`, value)
    }
    if (uniqueValues && !areUnique(values)) {
      this.#fail(path, 'uniqueItems', `Property ${name} must not have a value twice.`, value)
    }
    for (const wanted of contains) {
      if (values.includes(wanted)) continue
      this.#fail(path, 'contains', `Property ${name} must contain ${JSON.stringify(wanted)}.`, value)
    }
    if (elementType === undefined) return
    for (const [i, each] of values.entries()) {
      if (this.failures.length >= MAX_FAILURES) return
      this.type(elementType, each, `${path}/${i}`, `${name}[${i}]`)
    }
  }

  #wrongType(path: string, name: string, expected: string, value: unknown): void {
    this.#fail(path, 'type', `Property ${name} must be ${expected}.`, value)
  }

  #fail(path: string, keyword: string, message: string, value: unknown): void {
    if (this.failures.length < MAX_FAILURES) this.failures.push({ path, keyword, message, value })
  }
}

const MAX_SHOWN = 20

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
