/** Validates specifications of collections once, and keeps them by name while a medium is open. */
import { AppError, FORBIDDEN_KEYS, kindOf, messageOf } from '#kernel'
import { checkName, checkText, checkWhole } from './check-text.ts'
import type { CollectionSpec, Document } from './contract.ts'
import { MAX_FIELD_BYTES, MAX_FIELDS, MAX_TEXTS, MAX_TOGETHER, MAX_TOGETHER_FIELDS } from './limits.ts'
import { Problems } from './problems.ts'

export type FieldType = 'text' | 'number' | 'texts' | 'place'

export interface Place {
  readonly lat: number
  readonly lng: number
}

/** The value of a field in one document; undefined when absent. Texts of a list are distinct, and -0 becomes 0. */
export type FieldValue = string | number | readonly string[] | Place | undefined

export interface KnownField {
  readonly name: string
  readonly type: FieldType
  /** index of the field in `KnownSpec.fields`, and of its value in a document's values */
  readonly index: number
  readonly of: (document: never) => unknown
  /** true when an index would not help: only searched for substrings, or a list of texts */
  readonly unindexed: boolean
}

export interface KnownSpec {
  readonly name: string
  readonly version: number
  readonly fields: readonly KnownField[]
  readonly byName: ReadonlyMap<string, KnownField>
  readonly together: readonly (readonly KnownField[])[]
}

const FIELD_NAME = /^[a-zA-Z][a-zA-Z0-9_]{0,39}$/

export class Specs {
  readonly #known = new Map<string, { readonly spec: object; readonly known: KnownSpec }>()

  /** Throws `VALIDATION` when it differs from another specification of the same name. */
  know<D extends Document>(spec: CollectionSpec<D>): KnownSpec {
    const before = this.#known.get(spec.name)
    if (before?.spec === spec) return before.known
    const known = readOnce(spec)
    if (before !== undefined && shapeOf(before.known) !== shapeOf(known)) {
      throw new AppError(
        'VALIDATION',
        `The collection ${spec.name} was opened with two specifications: ${shapeOf(before.known)} and ${shapeOf(known)}; use one of them everywhere`,
      )
    }
    this.#known.set(spec.name, { spec, known })
    return known
  }
}

/** Specifications are immutable, and all media of a process receive the same objects. */
const readBefore = new WeakMap<object, KnownSpec>()

function readOnce(spec: CollectionSpec<never>): KnownSpec {
  const before = readBefore.get(spec)
  if (before !== undefined) return before
  const known = readSpec(spec)
  readBefore.set(spec, known)
  return known
}

function readSpec(spec: CollectionSpec<never>): KnownSpec {
  const problems = new Problems()
  checkName(spec.name, '/name', 'a collection', problems)
  checkWhole(spec.version, '/version', { min: 1, max: Number.MAX_SAFE_INTEGER }, problems)
  const fields = Object.entries(spec.fields).map(([name, field], index): KnownField => ({
    name,
    type: field.type,
    index,
    of: field.of,
    unindexed: field.type === 'texts' || ('only' in field && field.only === 'contains'),
  }))
  const seen = new Set<string>()
  for (const { name } of fields) {
    const path = `/fields/${name}`
    const lower = name.toLowerCase()
    if (lower === 'id') problems.wrong(path, 'the field id is reserved', 'rename the field')
    if (!FIELD_NAME.test(name) || FORBIDDEN_KEYS.has(name)) {
      problems.wrong(
        path,
        `${JSON.stringify(name)} is not a valid name of a field`,
        'use 1 to 40 letters, digits and _, beginning with a letter',
      )
    }
    // SQL column names are case-insensitive
    if (seen.has(lower)) problems.wrong(path, 'two fields differ only in case', 'rename one of them')
    seen.add(lower)
  }
  if (fields.length > MAX_FIELDS) problems.tooLarge('/fields', `are ${fields.length}`, `at most ${MAX_FIELDS}`)
  const byName = new Map(fields.map((field) => [field.name, field]))
  const together = readTogether(spec.together ?? [], byName, problems)
  problems.throwIfAny(`The specification of ${JSON.stringify(spec.name)}`)
  return { name: spec.name, version: spec.version, fields, byName, together }
}

function readTogether(
  lists: readonly (readonly string[])[],
  byName: ReadonlyMap<string, KnownField>,
  problems: Problems,
): KnownSpec['together'] {
  if (lists.length > MAX_TOGETHER) problems.tooLarge('/together', `are ${lists.length}`, `at most ${MAX_TOGETHER}`)
  return lists.map((names, i) => {
    const path = `/together/${i}`
    if (names.length < 2 || names.length > MAX_TOGETHER_FIELDS || new Set(names).size < names.length)
      problems.wrong(path, `is ${names.join(', ')}`, `name 2 to ${MAX_TOGETHER_FIELDS} different fields`)
    return names.flatMap((name, j): readonly KnownField[] => {
      const field = byName.get(name)
      if ((field?.type === 'text' || field?.type === 'number') && !field.unindexed) return [field]
      problems.wrong(
        `${path}/${j}`,
        `${name} is not a text or number field with an index`,
        'name such a field, or omit it',
      )
      return []
    })
  })
}

function shapeOf(known: KnownSpec): string {
  const fields = known.fields.map(
    ({ name, type, unindexed }) => `${name}: ${type}${type === 'text' && unindexed ? ', inside' : ''}`,
  )
  const together = known.together.map((list) => list.map(({ name }) => name).join(' + '))
  return `version ${known.version} (${[...fields, ...together].join(', ')})`
}

/** By index of the field. */
export function readFields(
  known: KnownSpec,
  document: Document,
  path: string,
  problems: Problems,
): readonly FieldValue[] {
  return known.fields.map((field) => {
    const wrong = (message: string, suggestion?: string) =>
      problems.wrong(path, `the field ${field.name} of ${known.name} ${message}`, suggestion)
    let value: unknown
    try {
      // the document has the type of the collection
      value = field.of(document as never)
    } catch (thrown) {
      wrong(`cannot be read: ${messageOf(thrown)}`)
      return undefined
    }
    if (value === undefined) return undefined
    switch (field.type) {
      case 'text':
        return checkText(value, path, `the field ${field.name}`, { max: MAX_FIELD_BYTES, empty: true }, problems)
          ? value
          : undefined
      case 'number':
        if (typeof value === 'number' && Number.isFinite(value)) return value + 0
        wrong(`is ${kindOf(value)}`, 'use a finite number')
        return undefined
      case 'texts':
        return readTexts(field.name, value, path, problems)
      case 'place':
        if (isPlace(value)) return { lat: value.lat + 0, lng: value.lng + 0 }
        wrong('is not a place', 'use lat from -90 to 90 and lng from -180 to 180')
        return undefined
    }
  })
}

function readTexts(name: string, value: unknown, path: string, problems: Problems): readonly string[] | undefined {
  if (!Array.isArray(value)) {
    problems.wrong(path, `the field ${name} is ${kindOf(value)}`, 'use a list of texts')
    return undefined
  }
  if (value.length > MAX_TEXTS) {
    problems.tooLarge(path, `the field ${name} has ${value.length} texts`, `at most ${MAX_TEXTS} are kept`)
    return undefined
  }
  const bounds = { max: MAX_FIELD_BYTES, empty: true }
  const texts = value.filter((text): text is string =>
    checkText(text, path, `a text of the field ${name}`, bounds, problems),
  )
  return texts.length === 0 ? undefined : [...new Set(texts)]
}

function isPlace(value: unknown): value is Place {
  if (typeof value !== 'object' || value === null || !('lat' in value) || !('lng' in value)) return false
  const { lat, lng } = value
  return typeof lat === 'number' && Math.abs(lat) <= 90 && typeof lng === 'number' && Math.abs(lng) <= 180
}
