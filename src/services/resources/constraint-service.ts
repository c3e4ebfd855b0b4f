/** Reads and writes resource constraints, single and per type. */
import { createHash } from 'node:crypto'
import { AppError, type Issue, refuse, retryOnConflict, sameJson } from '#kernel'
import type { Attributes } from './attributes.ts'
import {
  type Attribute,
  type AttributeType,
  Constraint,
  type ConstraintRecord,
  type Of,
} from './constraints/constraint-schema.ts'
import { constraintsOf } from './constraints/enforcement.ts'
import { schemaOf } from './constraints/json-schema.ts'
import { RESERVED } from './constraints/reserved.ts'
import type { ConstraintApi, ListQuery, ResourceEntity, TypeApi } from './contract.ts'
import { listDocuments } from './list/list-documents.ts'
import { pagingOf, readConstraintListing } from './list/read-listing.ts'
import { constraintInUse, constraintNotFound, problem } from './refusals.ts'
import { checkSize } from './resource-schema.ts'
import { ALL_CONSTRAINTS, type TenantResources } from './tenant-resources.ts'
import type { AppliedConstraint, TypeRecord } from './type-record.ts'

export function constraintApi(newId: () => string, tenantResources: TenantResources): ConstraintApi {
  const { constraintLock, typeLock, collections } = tenantResources
  const { constraints, types, resources } = collections
  const alone = <T>(work: () => Promise<T>): Promise<T> =>
    constraintLock.exclusive(ALL_CONSTRAINTS, () => retryOnConflict(work))
  const stored = async (id: string) => {
    const found = await constraints.get(id)
    if (found === undefined) throw constraintNotFound(id)
    return found
  }
  const typesOf = (id: string) => types.ids({ where: [{ field: 'constraints', op: 'eq', value: id }], limit: 10_000 })
  const closed = <T>(ids: readonly string[], work: () => Promise<T>): Promise<T> =>
    ids.reduce((inside, type) => () => typeLock.exclusive(type, inside), work)()

  return {
    create: async (body) => {
      const record = readConstraint(body, newId())
      await constraints.put(record.id, record, 'absent')
      tenantResources.constraints.put(record.id, record)
      return entityOf(record)
    },
    replace: (id, body) =>
      alone(async () => {
        const { version } = await stored(id)
        const record = readConstraint(body, id)
        const using = await typesOf(id)
        return closed(using, async () => {
          for (const type of using) {
            const users = await resources.count([{ field: 'resourceTypeId', op: 'eq', value: type }])
            if (users > 0) throw constraintInUse(id)
          }
          await constraints.put(id, record, version)
          tenantResources.constraints.put(id, record)
          return entityOf(record)
        })
      }),
    remove: (id) =>
      alone(async () => {
        const { version } = await stored(id)
        if ((await typesOf(id)).length > 0) throw constraintInUse(id)
        await constraints.delete(id, version)
        tenantResources.constraints.put(id, undefined)
      }),
    get: async (id) => entityOf((await stored(id)).value),
    schema: async (id) => schemaOf((await stored(id)).value.attributes),
    list: (query) => listDocuments(constraints, readConstraintListing(query), entityOf),
  }
}

function entityOf(record: ConstraintRecord): ResourceEntity {
  // record types are plain JSON, but TypeScript cannot infer it
  return record as unknown as ResourceEntity
}

/** Redefined reserved attributes are refused with a text that clients expect. */
export function readConstraint(body: unknown, id: string): ConstraintRecord {
  const constraint = Constraint.read(body)
  checkSize(constraint, 'the constraint')
  for (const attribute of constraint.attributes) {
    const reserved = RESERVED.find((each) => each.name === attribute.name)
    if (reserved !== undefined && mergeTypes(reserved.type, attribute.type) === undefined)
      throw new AppError('VALIDATION', 'Cannot redefine default keywords')
  }
  return { id, ...constraint }
}

export async function constraintForms(
  tenantResources: TenantResources,
  type: TypeRecord,
  form: Parameters<TypeApi['constraints']>[1],
  query: ListQuery,
): Promise<unknown> {
  const { skip, limit } = pagingOf(query)
  const constraints = await constraintsOf(tenantResources, type)
  if (form === 'paged') return { values: constraints.slice(skip, skip + limit), skip, limit, total: constraints.length }
  // already checked when they were applied; if they contradict each other anyway, only the reserved attributes remain
  const attributes = mergeAttributes([RESERVED, ...constraints.map((each) => each.attributes)]) ?? RESERVED
  if (form === 'schema') return schemaOf(attributes)
  const { id } = type.own
  const names = constraints.map(({ name }) => name).join(', ')
  return {
    id: idOf(tenantResources.collections.tenant, id),
    name: `Constraints for resourceType ${id}`,
    description: names === '' ? 'The reserved attributes' : `The reserved attributes, and ${names}`,
    attributes,
  }
}

function idOf(tenant: string, type: string): string {
  const hex = createHash('sha256')
    .update(JSON.stringify(['merged constraints', tenant, type]))
    .digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Checks new constraints against the type's resources, and all of them if the type's own values changed. */
export async function appliedConstraints(
  tenantResources: TenantResources,
  ids: readonly string[],
  before: TypeRecord | undefined,
  own: Attributes,
  users: number,
): Promise<readonly AppliedConstraint[]> {
  const found: ConstraintRecord[] = []
  const missing: Issue[] = []
  for (const id of ids) {
    const constraint = await tenantResources.constraints.get(id)
    if (constraint === undefined) missing.push(problem('/$constraints', constraintNotFound(id).message))
    else found.push(constraint)
  }
  if (missing.length > 0) throw refuse('the resource type', missing)
  const wishes = found.map(({ id, name, attributes }) => ({ from: `${JSON.stringify(name)} (${id})`, attributes }))
  const opposed = contradictions([{ from: 'the reserved attributes', attributes: RESERVED }, ...wishes])
  if (opposed.length > 0) {
    const issues = opposed.map(({ attribute, between }) => {
      const where = `no value can satisfy the attribute ${attribute} of ${between.join(' and ')}`
      return problem('/$constraints', `constraints are incompatible to each other: ${where}`, 'omit one of them')
    })
    throw refuse('the resource type', issues)
  }
  const isSame = before !== undefined && sameJson(before.own, own)
  return ids.map((constraintId): AppliedConstraint => {
    const known = before?.constraints.find((each) => each.constraintId === constraintId)
    if (isSame && known !== undefined) return known
    return { constraintId, status: users > 0 ? 'applying' : 'ineffect' }
  })
}

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

interface Wish {
  readonly from: string
  readonly attributes: readonly Attribute[]
}

interface Contradiction {
  readonly attribute: string
  readonly between: readonly string[]
}

function contradictions(wishes: readonly Wish[]): readonly Contradiction[] {
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

function mergeTypes(a: AttributeType, b: AttributeType): AttributeType | undefined {
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
