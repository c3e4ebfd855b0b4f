/** Intersects constraints, attribute by attribute. */
import type { Attribute, AttributeType, Of } from './constraint-schema.ts'

/** Returns the merged attributes in the order of their first mention; undefined if they contradict each other. */
export function mergeAttributes(lists: readonly (readonly Attribute[])[]): readonly Attribute[] | undefined {
  const merged = new Map<string, Attribute>()
  for (const attribute of lists.flat()) {
    const before = merged.get(attribute.name)
    if (before === undefined) {
      merged.set(attribute.name, attribute)
      continue
    }
    const type = mergeTypes(before.type, attribute.type)
    if (type === undefined) return undefined
    merged.set(attribute.name, { name: attribute.name, required: before.required || attribute.required, type })
  }
  return [...merged.values()]
}

export interface Wish {
  readonly from: string
  readonly attributes: readonly Attribute[]
}

export interface Contradiction {
  readonly attribute: string
  readonly between: readonly string[]
}

export function contradictions(wishes: readonly Wish[]): readonly Contradiction[] {
  const found: Contradiction[] = []
  const names = new Set(wishes.flatMap(({ attributes }) => attributes.map(({ name }) => name)))
  for (const attribute of names) {
    const wanted = wishes.flatMap(({ from, attributes }) => {
      return attributes.flatMap(({ name, type }) => (name === attribute ? [{ from, type }] : []))
    })
    const at = wanted.findIndex((_, i) => merged(wanted.slice(0, i + 1).map(({ type }) => type)) === undefined)
    const [last, earlier] = [wanted[at], wanted.slice(0, Math.max(at, 0))]
    if (last === undefined) continue
    // usually two sources contradict each other; otherwise only all of them together do
    const opposed = earlier.find(({ type }) => mergeTypes(type, last.type) === undefined)
    const between = [...(opposed === undefined ? earlier : [opposed]), last].map(({ from }) => from)
    found.push({ attribute, between })
  }
  return found
}

function merged([first, ...others]: readonly AttributeType[]): AttributeType | undefined {
  return others.reduce<AttributeType | undefined>((all, type) => all && mergeTypes(all, type), first)
}

export function mergeTypes(a: AttributeType, b: AttributeType): AttributeType | undefined {
  if (a.type === 'enum') return mergeEnum(a, b)
  if (b.type === 'enum') return mergeEnum(b, a)
  if (a.type === 'numeric' && b.type === 'numeric') {
    return ranged('numeric', highest(a.minimum, b.minimum), lowest(a.maximum, b.maximum))
  }
  if (a.type === 'string' && b.type === 'string') return sized('string', a, b)
  if (a.type === 'boolean' && b.type === 'boolean') return a
  if (a.type === 'resourceRef' && b.type === 'resourceRef') return mergeReferences(a, b)
  if (a.type === 'object' && b.type === 'object') {
    const attributes = mergeAttributes([a.attributes ?? [], b.attributes ?? []])
    return attributes && { type: 'object', ...(attributes.length > 0 && { attributes }) }
  }
  if (a.type === 'array' && b.type === 'array') return mergeArrays(a, b)
  return undefined
}

function mergeEnum(choice: Of<'enum'>, other: AttributeType): AttributeType | undefined {
  const items = choice.items.filter((item) => allows(other, item))
  return items.length === 0 ? undefined : { ...choice, items }
}

function allows(type: AttributeType, item: number | string): boolean {
  switch (type.type) {
    case 'enum':
      return type.items.includes(item)
    case 'numeric':
      return typeof item === 'number' && item >= (type.minimum ?? item) && item <= (type.maximum ?? item)
    case 'string': {
      if (typeof item !== 'string') return false
      const length = Array.from(item).length
      return length >= (type.minLength ?? 0) && length <= (type.maxLength ?? Infinity)
    }
    default:
      return false
  }
}

function mergeReferences(a: Of<'resourceRef'>, b: Of<'resourceRef'>): AttributeType | undefined {
  const attributes = [...new Set([...(a.attributes ?? []), ...(b.attributes ?? [])])]
  const resourceTypes =
    a.resourceTypes && b.resourceTypes
      ? a.resourceTypes.filter((id) => b.resourceTypes?.includes(id))
      : (a.resourceTypes ?? b.resourceTypes)
  if (resourceTypes?.length === 0) return undefined
  return {
    type: 'resourceRef',
    ...(attributes.length > 0 && { attributes }),
    ...(resourceTypes && { resourceTypes }),
    ...((a.exists ?? b.exists) !== undefined && { exists: a.exists === true || b.exists === true }),
  }
}

function mergeArrays(a: Of<'array'>, b: Of<'array'>): AttributeType | undefined {
  const size = sized('array', a, b)
  const elementType = mergeElements(a.elementType, b.elementType)
  if (size === undefined || elementType === 'none') return undefined
  const contains = [...new Set([...(a.contains ?? []), ...(b.contains ?? [])])]
  return {
    ...size,
    ...(elementType && { elementType }),
    ...((a.uniqueValues === true || b.uniqueValues === true) && { uniqueValues: true }),
    ...(contains.length > 0 && { contains }),
  }
}

function mergeElements(a: AttributeType | undefined, b: AttributeType | undefined): AttributeType | 'none' | undefined {
  return a && b ? (mergeTypes(a, b) ?? 'none') : (a ?? b)
}

interface Sized {
  readonly minLength?: number
  readonly maxLength?: number
}

function sized<T extends 'string' | 'array'>(type: T, a: Sized, b: Sized): ({ readonly type: T } & Sized) | undefined {
  const minLength = highest(a.minLength, b.minLength)
  const maxLength = lowest(a.maxLength, b.maxLength)
  if ((minLength ?? 0) > (maxLength ?? Infinity)) return undefined
  return { type, ...(minLength !== undefined && { minLength }), ...(maxLength !== undefined && { maxLength }) }
}

function ranged(type: 'numeric', minimum: number | undefined, maximum: number | undefined): Of<'numeric'> | undefined {
  if ((minimum ?? -Infinity) > (maximum ?? Infinity)) return undefined
  return { type, ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) }
}

function highest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)
}

function lowest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}
