/** Constraints as they come from outside, read strictly. */
import { AppError, FORBIDDEN_KEYS, isPlainObject, Issues } from '#kernel'
import type { ConstraintRecord } from '../constraint-record.ts'
import { checkSize, readAttributes } from '../read-attributes.ts'
import { ATTRIBUTE_TYPES, type Attribute, type AttributeType } from './attribute.ts'
import { mergeTypes } from './merge-attributes.ts'
import { RESERVED } from './reserved.ts'

const SUBJECT = 'the constraint'
const MAX_ITEMS = 1_000
const MAX_LEVELS = 10

/** Throws `VALIDATION` with every problem; a redefinition of reserved attributes has a text that clients know. */
export function readConstraint(body: unknown, id: string): ConstraintRecord {
  const given = readAttributes(body, SUBJECT)
  checkSize(given, SUBJECT)
  const reader = new Reader()
  const name = reader.text(given['name'], '/name', 1) ?? ''
  const description = given['description'] === undefined ? undefined : reader.text(given['description'], '/description')
  const tags = given['tags'] === undefined ? undefined : reader.texts(given['tags'], '/tags')
  const attributes = reader.attributes(given['attributes'], '/attributes', 0)
  for (const key of Object.keys(given))
    if (!KNOWN.has(key)) reader.wrong(`/${key}`, 'is unknown', `use ${[...KNOWN].join(', ')}`)
  reader.issues.throwIfAny(SUBJECT)
  for (const attribute of attributes) {
    const reserved = RESERVED.find((each) => each.name === attribute.name)
    if (reserved !== undefined && mergeTypes(reserved.type, attribute.type) === undefined) {
      throw new AppError('VALIDATION', 'Cannot redefine default keywords')
    }
  }
  return { id, name, ...(description !== undefined && { description }), ...(tags && { tags }), attributes }
}

const KNOWN: ReadonlySet<string> = new Set(['id', 'name', 'description', 'tags', 'attributes'])

type Of<T extends AttributeType['type']> = Extract<AttributeType, { readonly type: T }>

class Reader {
  readonly issues = new Issues('ATTRIBUTE', 100)

  wrong(path: string, message: string, suggestion?: string): void {
    this.issues.wrong(path, message, suggestion)
  }

  text(value: unknown, path: string, least = 0): string | undefined {
    if (typeof value === 'string' && value.length >= least) return value
    const wanted = least > 0 ? 'write at least one character' : 'write a string'
    this.wrong(path, value === undefined ? 'is required' : 'is no such string', wanted)
    return undefined
  }

  texts(value: unknown, path: string): readonly string[] {
    return this.#list(value, path, (each, place) => this.text(each, place, 1))
  }

  attributes(value: unknown, path: string, level: number): readonly Attribute[] {
    if (level > MAX_LEVELS) {
      this.wrong(path, `nests deeper than ${MAX_LEVELS} levels`)
      return []
    }
    const names = new Set<string>()
    return this.#list(value, path, (each, place): Attribute | undefined => {
      if (!isPlainObject(each))
        return this.#none(place, 'is no attribute', 'write {"name": ..., "required": ..., "type": {...}}')
      const name = this.text(each['name'], `${place}/name`, 1)
      if (name !== undefined && FORBIDDEN_KEYS.has(name)) this.wrong(`${place}/name`, `"${name}" is not allowed`)
      if (name !== undefined && names.has(name))
        this.wrong(`${place}/name`, `"${name}" is there twice`, 'name each attribute once')
      if (name !== undefined) names.add(name)
      const { required } = each
      if (typeof required !== 'boolean') this.wrong(`${place}/required`, 'is neither true nor false')
      const type = this.type(each['type'], `${place}/type`, level)
      return name === undefined || type === undefined ? undefined : { name, required: required === true, type }
    })
  }

  type(value: unknown, path: string, level: number): AttributeType | undefined {
    if (!isPlainObject(value)) return this.#none(path, 'is no type', 'write for example {"type": "string"}')
    const name = ATTRIBUTE_TYPES.find((each) => each === value['type'])
    if (name === undefined) {
      return this.#none(
        `${path}/type`,
        `${JSON.stringify(value['type'])} is unknown`,
        `write one of ${ATTRIBUTE_TYPES.join(', ')}`,
      )
    }
    const known = PARAMETERS[name]
    for (const key of Object.keys(value)) {
      if (key !== 'type' && !known.includes(key))
        this.wrong(`${path}/${key}`, `is no parameter of ${name}`, `use ${known.join(', ') || 'none'}`)
    }
    switch (name) {
      case 'boolean':
        return { type: name }
      case 'numeric':
        return { type: name, ...this.#bounds(value, path, ['minimum', 'maximum'], -Infinity) }
      case 'string':
        return { type: name, ...this.#bounds(value, path, ['minLength', 'maxLength'], 0) }
      case 'enum':
        return this.#enum(value, path)
      case 'resourceRef':
        return this.#reference(value, path)
      case 'object': {
        if (value['attributes'] === undefined) return { type: name }
        return { type: name, attributes: this.attributes(value['attributes'], `${path}/attributes`, level + 1) }
      }
      case 'array':
        return this.#array(value, path, level)
    }
  }

  #enum(value: Record<string, unknown>, path: string): Of<'enum'> {
    const { enumType } = value
    if (enumType !== 'numeric' && enumType !== 'string') this.wrong(`${path}/enumType`, 'is neither numeric nor string')
    const wanted = enumType === 'numeric' ? 'number' : 'string'
    const items = this.#list(value['items'], `${path}/items`, (item, place) => {
      if (typeof item === wanted) return item as number | string
      return this.#none(place, `is no ${wanted}`)
    })
    if (Array.isArray(value['items']) && items.length === 0)
      this.wrong(`${path}/items`, 'is empty', 'give at least one value')
    return { type: 'enum', enumType: enumType === 'numeric' ? 'numeric' : 'string', items }
  }

  #reference({ attributes, resourceTypes, exists }: Record<string, unknown>, path: string): Of<'resourceRef'> {
    return {
      type: 'resourceRef',
      ...(attributes !== undefined && { attributes: this.texts(attributes, `${path}/attributes`) }),
      ...(resourceTypes !== undefined && { resourceTypes: this.texts(resourceTypes, `${path}/resourceTypes`) }),
      ...(exists !== undefined && { exists: this.#flag(exists, `${path}/exists`) }),
    }
  }

  #array(value: Record<string, unknown>, path: string, level: number): Of<'array'> | undefined {
    if (level >= MAX_LEVELS) return this.#none(path, `nests deeper than ${MAX_LEVELS} levels`)
    const { elementType, uniqueValues, contains } = value
    const element = elementType === undefined ? undefined : this.type(elementType, `${path}/elementType`, level + 1)
    return {
      type: 'array',
      ...(element && { elementType: element }),
      ...this.#bounds(value, path, ['minLength', 'maxLength'], 0),
      ...(uniqueValues !== undefined && { uniqueValues: this.#flag(uniqueValues, `${path}/uniqueValues`) }),
      ...(contains !== undefined && { contains: this.#scalars(contains, `${path}/contains`) }),
    }
  }

  #scalars(value: unknown, path: string): readonly (number | string | boolean)[] {
    return this.#list(value, path, (each, place) => {
      if (typeof each === 'number' || typeof each === 'string' || typeof each === 'boolean') return each
      return this.#none(place, 'is no number, string or boolean')
    })
  }

  /** Whole and not negative when `least` is 0. */
  #bounds<K extends string>(
    value: Record<string, unknown>,
    path: string,
    [low, high]: readonly [K, K],
    least: number,
  ): { readonly [P in K]?: number } {
    const bounds: { [P in K]?: number } = {}
    for (const key of [low, high]) {
      const bound = value[key]
      if (bound === undefined) continue
      if (typeof bound === 'number' && bound >= least && (least === -Infinity || Number.isInteger(bound)))
        bounds[key] = bound
      else this.wrong(`${path}/${key}`, least === 0 ? 'is no whole number of at least 0' : 'is no number')
    }
    const [from, to] = [bounds[low], bounds[high]]
    if (from !== undefined && to !== undefined && from > to)
      this.wrong(`${path}/${low}`, `${from} is above ${high} ${to}`)
    return bounds
  }

  #flag(value: unknown, path: string): boolean {
    if (typeof value !== 'boolean') this.wrong(path, 'is neither true nor false')
    return value === true
  }

  #list<T>(value: unknown, path: string, read: (each: unknown, path: string) => T | undefined): readonly T[] {
    if (!Array.isArray(value)) {
      this.wrong(path, value === undefined ? 'is required' : 'is no list', 'write a list')
      return []
    }
    if (value.length > MAX_ITEMS) this.wrong(path, `has ${value.length} entries`, `give at most ${MAX_ITEMS}`)
    return value.slice(0, MAX_ITEMS).flatMap((each: unknown, i) => read(each, `${path}/${i}`) ?? [])
  }

  #none(path: string, message: string, suggestion?: string): undefined {
    this.wrong(path, message, suggestion)
  }
}

const PARAMETERS: Readonly<Record<AttributeType['type'], readonly string[]>> = {
  numeric: ['minimum', 'maximum'],
  string: ['minLength', 'maxLength'],
  boolean: [],
  enum: ['enumType', 'items'],
  resourceRef: ['attributes', 'resourceTypes', 'exists'],
  object: ['attributes'],
  array: ['elementType', 'minLength', 'maxLength', 'uniqueValues', 'contains'],
}
