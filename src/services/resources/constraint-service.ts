/** Resource constraints: created, changed, deleted and shown. */
import { AppError, type Caller, type KeyedMutex, type KeyedSharedLock, retryOnConflict } from '#kernel'
import { Constraint, type ConstraintRecord } from './constraints/constraint-schema.ts'
import { schemaOf } from './constraints/json-schema.ts'
import { mergeTypes } from './constraints/merge-attributes.ts'
import { RESERVED } from './constraints/reserved.ts'
import type { ConstraintApi, ResourceEntity } from './contract.ts'
import { constraintInUse, constraintNotFound } from './error-texts.ts'
import { listDocuments } from './list/list-documents.ts'
import { readConstraintListing } from './list/read-listing.ts'
import { checkSize } from './resource-schema.ts'
import { typeLockKey } from './resource-writer.ts'
import type { TenantResources } from './tenant-resources.ts'
import { TYPES_LANE } from './type-service.ts'

export interface ConstraintDependencies {
  readonly lanes: KeyedMutex
  readonly typeLock: KeyedSharedLock
  readonly newId: () => string
}

export function constraintApi(
  { lanes, typeLock, newId }: ConstraintDependencies,
  tenantResources: TenantResources,
  { tenant }: Caller,
): ConstraintApi {
  const { constraints, types, resources } = tenantResources.collections
  const alone = <T>(work: () => Promise<T>): Promise<T> =>
    lanes.run(`${tenant}\n${TYPES_LANE}`, () => retryOnConflict(work))
  const stored = async (id: string) => {
    const found = await constraints.get(id)
    if (found === undefined) throw constraintNotFound(id)
    return found
  }
  const typesOf = (id: string) => types.ids({ where: [{ field: 'constraints', op: 'eq', value: id }], limit: 10_000 })
  /** Nobody writes resources of these types meanwhile. */
  const closed = <T>(ids: readonly string[], work: () => Promise<T>): Promise<T> =>
    ids.reduce((inside, type) => () => typeLock.exclusive(typeLockKey(tenantResources, type), inside), work)()

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
  // declared shapes of plain JSON
  return record as unknown as ResourceEntity
}

/** Throws `VALIDATION` with every problem; a redefinition of reserved attributes has a text that clients know. */
export function readConstraint(body: unknown, id: string): ConstraintRecord {
  const given = Constraint.read(body)
  checkSize(given, 'the constraint')
  for (const attribute of given.attributes) {
    const reserved = RESERVED.find((each) => each.name === attribute.name)
    if (reserved !== undefined && mergeTypes(reserved.type, attribute.type) === undefined)
      throw new AppError('VALIDATION', 'Cannot redefine default keywords')
  }
  return Object.assign({ id }, given, { id })
}
