/** Checks resources, including inherited values, against the constraints of their type. */
import { at, isPlainObject, type Issue, type Json, ownValue, refuse, sameJson } from '#kernel'
import type { Attributes } from '../attributes.ts'
import type { ResourceEntity } from '../contract.ts'
import { denormalize } from '../denormalize.ts'
import { referredId } from '../resource-record.ts'
import type { TenantResources } from '../tenant-resources.ts'
import type { TypeRecord } from '../type-record.ts'
import type { Attribute, AttributeType, ConstraintRecord, Of } from './constraint-schema.ts'

export async function enforce(tenantResources: TenantResources, own: ResourceEntity, type: TypeRecord): Promise<void> {
  const constraints = await constraintsOf(tenantResources, type)
  const attributes = constraints.flatMap((constraint) => constraint.attributes)
  const failures = await failuresOf(tenantResources, attributes, denormalize(own, type.own))
  if (failures.length > 0) throw refuse('the resource', failures.map(issueOf))
}

export async function constraintsOf(
  tenantResources: TenantResources,
  type: TypeRecord,
): Promise<readonly ConstraintRecord[]> {
  const found: ConstraintRecord[] = []
  for (const { constraintId } of type.constraints) {
    const constraint = await tenantResources.constraints.get(constraintId)
    if (constraint !== undefined) found.push(constraint)
  }
  return found
}

export async function failuresOf(
  tenantResources: TenantResources,
  attributes: readonly Attribute[],
  shown: Attributes,
): Promise<readonly Failure[]> {
  const failures = [...checkAttributes(attributes, shown)]
  for (const { name, type } of attributes) {
    if (type.type !== 'resourceRef' || (type.exists !== true && type.resourceTypes === undefined)) continue
    const id = referredId(Object.hasOwn(shown, name) ? shown[name] : undefined)
    if (!id) continue
    const target = (await tenantResources.resources.get(id))?.value
    const path = at('', name)
    const fail = (keyword: string, message: string): void => void failures.push({ path, keyword, message, value: id })
    if (target === undefined) {
      if (type.exists === true) fail('exists', `Property ${name} refers to the resource ${id}, which does not exist.`)
      continue
    }
    const typeId = target.own['resourceTypeId']
    if (type.resourceTypes?.includes(typeof typeId === 'string' ? typeId : '') === false) {
      const wanted = type.resourceTypes.slice(0, 20).join(', ')
      fail('resourceTypes', `Property ${name} must refer to a resource of type ${wanted}.`)
    }
  }
  return failures
}
/** Converts a failure to an issue, with keyword and value for the error body. */
export function issueOf({ path, keyword, message, value }: Failure): Issue {
  const details = { keyword, ...(value !== undefined && { value }) }
  return { type: 'CONSTRAINT', severity: 'ERROR', path, message, details }
}

/** Checks attributes against constraints. Each failure has a JSON Schema keyword. */
interface Failure {
  readonly path: string
  readonly keyword: string
  readonly message: string
  readonly value: unknown
}

const MAX_FAILURES = 100
/** Maximum length of arrays whose items are compared pairwise. */
const MAX_PAIRED = 1_000
const MAX_SHOWN = 20

export function checkAttributes(attributes: readonly Attribute[], value: object): readonly Failure[] {
  const failures: Failure[] = []
  addFailures(failures, attributes, value, '')
  return failures
}

function addFailures(failures: Failure[], attributes: readonly Attribute[], value: object, path: string): void {
  for (const { name, required, type } of attributes) {
    if (Object.hasOwn(value, name)) addOfType(failures, type, ownValue(value, name), at(path, name), name)
    else if (required) add(failures, at(path, name), 'required', name, 'missing.')
  }
}

const isText = (value: unknown): boolean => typeof value === 'string'
const KINDS: Readonly<
  Record<Exclude<AttributeType['type'], 'enum'>, { readonly expected: string; holds(value: unknown): boolean }>
> = {
  numeric: { expected: 'a number', holds: (value) => typeof value === 'number' },
  string: { expected: 'a string', holds: isText },
  boolean: { expected: 'a boolean', holds: (value) => typeof value === 'boolean' },
  resourceRef: { expected: 'a reference to a resource', holds: isPlainObject },
  object: { expected: 'an object', holds: isPlainObject },
  array: { expected: 'a list', holds: Array.isArray },
}

function addOfType(failures: Failure[], type: AttributeType, value: unknown, path: string, name: string): void {
  if (type.type === 'enum') {
    if (type.items.some((item) => item === value)) return
    return add(failures, path, 'enum', name, `must be one of ${shown(type.items)}.`, value)
  }
  const kind = KINDS[type.type]
  if (!kind.holds(value)) return add(failures, path, 'type', name, `must be ${kind.expected}.`, value)
  if (type.type === 'numeric') {
    const { minimum = -Infinity, maximum = Infinity } = type
    if (Number(value) < minimum) add(failures, path, 'minimum', name, `must be at least ${minimum}.`, value)
    if (Number(value) > maximum) add(failures, path, 'maximum', name, `must be at most ${maximum}.`, value)
  } else if (type.type === 'string') {
    const { minLength = 0, maxLength = Infinity } = type
    const text = String(value)
    const length = text.length > maxLength || minLength > 0 ? lengthOf(text) : 0
    if (length < minLength) add(failures, path, 'minLength', name, `must have at least ${characters(minLength)}`, value)
    if (length > maxLength) add(failures, path, 'maxLength', name, `must have at most ${characters(maxLength)}`, value)
  } else if (type.type === 'resourceRef') addOfReference(failures, type, value as object, path)
  else if (type.type === 'object') addFailures(failures, type.attributes ?? [], value as object, path)
  else if (type.type === 'array') addOfList(failures, type, value as readonly unknown[], path, name)
}

function addOfReference(failures: Failure[], type: Of<'resourceRef'>, value: object, path: string): void {
  const [target, targetPath] = [ownValue(value, '$ref'), `${path}/$ref`]
  if (target === undefined) add(failures, targetPath, 'required', '$ref', 'missing.')
  else if (!isText(target)) add(failures, targetPath, 'type', '$ref', 'must be a string.', target)
  else if (!referredId(value))
    add(failures, targetPath, 'pattern', '$ref', 'must begin with /resources/ and name a resource.', target)
  for (const key of type.attributes ?? [])
    if (!Object.hasOwn(value, key)) add(failures, at(path, key), 'required', key, 'missing.')
}

function addOfList(
  failures: Failure[],
  { minLength = 0, maxLength = Infinity, uniqueValues = false, contains = [], elementType }: Of<'array'>,
  values: readonly unknown[],
  path: string,
  name: string,
): void {
  if (values.length < minLength)
    add(failures, path, 'minItems', name, `must have at least ${minLength} values.`, values)
  if (values.length > maxLength) add(failures, path, 'maxItems', name, `must have at most ${maxLength} values.`, values)
  if (uniqueValues && !areUnique(values))
    add(failures, path, 'uniqueItems', name, `must not have a value twice.`, values)
  for (const wanted of contains)
    if (!values.includes(wanted))
      add(failures, path, 'contains', name, `must contain ${JSON.stringify(wanted)}.`, values)
  if (elementType === undefined) return
  for (const [i, each] of values.entries()) {
    if (failures.length >= MAX_FAILURES) return
    addOfType(failures, elementType, each, `${path}/${i}`, `${name}[${i}]`)
  }
}

function add(failures: Failure[], path: string, keyword: string, name: string, must: string, value?: unknown): void {
  if (failures.length < MAX_FAILURES) failures.push({ path, keyword, message: `Property ${name} ${must}`, value })
}

function characters(count: number): string {
  return `${count} character${count === 1 ? '' : 's'}.`
}

function shown(items: readonly unknown[]): string {
  const texts = items.slice(0, MAX_SHOWN).map((item) => JSON.stringify(item))
  return `${texts.join(', ')}${items.length > MAX_SHOWN ? ' ...' : ''}`
}

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
