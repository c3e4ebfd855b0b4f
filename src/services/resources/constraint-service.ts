/** Reads and writes resource constraints, single and per type. */
import { createHash } from 'node:crypto'
import { AppError, type Issue, refuse, retryOnConflict, sameJson } from '#kernel'
import type { Attributes } from './attributes.ts'
import { Constraint, type ConstraintRecord } from './constraints/constraint-schema.ts'
import { constraintsOf } from './constraints/enforcement.ts'
import { schemaOf } from './constraints/json-schema.ts'
import { contradictions, mergeAttributes, mergeTypes } from './constraints/merge-attributes.ts'
import { RESERVED } from './constraints/reserved.ts'
import type { ConstraintApi, ListQuery, ResourceEntity, TypeApi } from './contract.ts'
import { listDocuments } from './list/list-documents.ts'
import { pagingOf, readConstraintListing } from './list/read-listing.ts'
import { constraintInUse, constraintNotFound, problem } from './refusals.ts'
import { checkSize } from './resource-schema.ts'
import { TYPES_LANE } from './resource-writer.ts'
import type { TenantResources } from './tenant-resources.ts'
import type { AppliedConstraint, TypeRecord } from './type-record.ts'

export function constraintApi(newId: () => string, tenantResources: TenantResources): ConstraintApi {
  const { lanes, typeLock, collections } = tenantResources
  const { constraints, types, resources } = collections
  const alone = <T>(work: () => Promise<T>): Promise<T> => lanes.run(TYPES_LANE, () => retryOnConflict(work))
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
