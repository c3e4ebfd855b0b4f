/** Resource types: created, changed, deleted and shown. */
import {
  type Caller,
  type Issue,
  type Json,
  type KeyedMutex,
  type KeyedSharedLock,
  refuse,
  requireVersion,
  sameJson,
  retryOnConflict,
} from '#kernel'
import type { Stored, Write } from '#storage'
import type { Attributes } from './attributes.ts'
import type { ChangeRecorder } from './change-recorder.ts'
import { changesOf } from './history.ts'
import { checkAttributes } from './constraints/check-attributes.ts'
import { issueOf } from './constraints/enforcement.ts'
import { RESERVED, TEMPLATES } from './constraints/reserved.ts'
import { appliedConstraints } from './constraints/applied.ts'
import { constraintForms } from './constraints/constraint-forms.ts'
import type { ManagedTasks, ResourceEntity, TypeApi, Versioned, WriteOptions } from './contract.ts'
import { busyType, problem, typeExists, typeInUse, typeNotFound } from './error-texts.ts'
import type { Reconciler } from './managed-tasks/reconciler.ts'
import { lackingTasks } from './managed-tasks/reconciler-record.ts'
import { plannedWalk } from './managed-tasks/type-walks.ts'
import { OPERATIONS } from './operations/operation-record.ts'
import { entriesOf } from './managed-tasks/wanted-tasks.ts'
import { listDocuments } from './list/list-documents.ts'
import { readTypeListing } from './list/read-listing.ts'
import { checkSize, TypeAttributes } from './resource-schema.ts'
import { commandFailures } from './resource-service.ts'
import { isSearchedAlike } from './resource-record.ts'
import { checkId, typeLockKey, patched, versionOf, withId } from './resource-writer.ts'
import type { TenantResources } from './tenant-resources.ts'
import { typeEntity, type AppliedConstraint, type TypeRecord } from './type-record.ts'
import type { TypeWork } from './type-work.ts'

export interface TypeDependencies {
  readonly lanes: KeyedMutex
  readonly typeLock: KeyedSharedLock
  readonly recorder: ChangeRecorder
  readonly typeWork: TypeWork
  readonly reconciler: Reconciler
  /** epoch ms */
  readonly now: () => number
  readonly newId: () => string
  readonly tasks?: Pick<ManagedTasks, 'check'>
}

/** What a writer wants: attributes without bookkeeping, and the ids of constraints; undefined deletes. */
interface Wanted {
  readonly own: ResourceEntity
  readonly constraints: readonly string[]
}

type Step = (before: Stored<TypeRecord> | undefined) => Wanted | undefined | Promise<Wanted | undefined>

const SUBJECT = 'the resource type'
const CONSTRAINTS = '$constraints'
/** tasks of its templates that could not be made, and why; of one type, not of lists */
const LACKING_TASKS = '$lackingTasks'
const BOOKKEEPING: ReadonlySet<string> = new Set([CONSTRAINTS, '$bulkOperation', LACKING_TASKS])

export function typeApi(dependencies: TypeDependencies, tenantResources: TenantResources, caller: Caller): TypeApi {
  const { lanes, typeLock, newId, reconciler, typeWork } = dependencies
  const { types } = tenantResources.collections
  const show = (record: TypeRecord): ResourceEntity =>
    typeEntity(record, reconciler.operationOf(caller.tenant, record.own.id))
  const stored = async (id: string) => {
    const found = await types.get(id)
    if (found === undefined) throw typeNotFound(id)
    return found
  }
  // One change of types and constraints at a time: a constraint must not go while it is being applied.
  const alone = <T>(work: () => Promise<T>): Promise<T> =>
    lanes.run(`${caller.tenant}\n${TYPES_LANE}`, () => retryOnConflict(work))
  // Nobody writes a resource of the type meanwhile: who has it is counted, and held against what it says then.
  const aloneWith = <T>(id: string, work: () => Promise<T>): Promise<T> =>
    alone(() => typeLock.exclusive(typeLockKey(tenantResources, id), work))
  const write = (id: string, options: WriteOptions | undefined, step: Step) =>
    aloneWith(id, async (): Promise<Versioned<ResourceEntity> | undefined> => {
      const before = await types.get(id)
      requireVersion(`Resource type ${id}`, before && versionOf(before), options?.ifVersion)
      const wanted = await step(before)
      if (wanted) await checkTemplates(dependencies, caller, before?.value, wanted)
      const record = wanted && (await nextRecord(dependencies, tenantResources, id, before?.value, wanted))
      if (before === undefined && record === undefined) return undefined
      const version = await commit(dependencies, tenantResources, caller, id, before, record)
      return record && { value: show(record), version }
    })
  const written = async (id: string, options: WriteOptions | undefined, step: Step) => {
    const result = await write(id, options, step)
    if (result === undefined) throw typeNotFound(id)
    return result
  }

  return {
    create: async (body) => {
      const attributes = TypeAttributes.read(body)
      const id = idOf(attributes) ?? newId()
      const wanted = readType(attributes, id)
      return written(id, undefined, (before) => {
        if (before !== undefined) throw typeExists(id)
        return wanted
      })
    },
    replace: async (id, body, options) => {
      const wanted = readType(TypeAttributes.read(body), id)
      return written(id, options, (before) => {
        if (before === undefined) throw typeNotFound(id)
        return wanted
      })
    },
    patch: async (id, body, options) => {
      const patch = TypeAttributes.read(body)
      checkId(patch, id, SUBJECT)
      let created = false
      const result = await written(id, options, (before) => {
        created = before === undefined
        const own = patched(before?.value.own ?? { id }, patch)
        const kept = before?.value.constraints.map(({ constraintId }) => constraintId) ?? []
        const given = Object.hasOwn(patch, CONSTRAINTS) ? (patch[CONSTRAINTS] ?? []) : kept
        return readType({ ...own, [CONSTRAINTS]: given }, id)
      })
      return { ...result, created }
    },
    remove: async (id, options) => {
      await write(id, options, async (before) => {
        if (before === undefined) throw typeNotFound(id)
        const users = await usersOf(tenantResources, id)
        if (users > 0) throw typeInUse(users)
        return undefined
      })
    },
    get: async (id) => {
      const found = await stored(id)
      const lacking = await lackingTasks(tenantResources.collections.store, { type: id })
      const value = { ...show(found.value), ...(lacking.length > 0 && { [LACKING_TASKS]: lacking }) }
      return { value, version: versionOf(found) }
    },
    list: (query) => listDocuments(types, readTypeListing(query), show),
    changes: async (id, query) => {
      const page = await changesOf(tenantResources.collections.history, 'resourcetype', id, query)
      if (page.total === 0) throw typeNotFound(id)
      return page
    },
    constraints: async (id, form, query = {}) =>
      constraintForms(tenantResources, (await stored(id)).value, form, query),
    revalidate: (id) =>
      aloneWith(id, async () => {
        const { value, version } = await stored(id)
        if (value.constraints.some(({ status }) => status === 'applying')) throw busyType(id)
        const constraints = value.constraints.map(({ constraintId }) => applying(constraintId))
        const beats = (value.beats ?? 0) + 1
        const record: TypeRecord = { ...value, constraints, operation: newId(), beats }
        const planned = planning(dependencies, tenantResources, caller, id, value, record)
        const { results } = await tenantResources.collections.commit([types.putting(id, record, version), ...planned])
        tenantResources.types.put(id, record)
        typeWork.begin(tenantResources, id)
        if (planned.length > 0) reconciler.planned(caller.tenant)
        return { value: show(record), version: (results[0] ?? 0) - beats }
      }),
  }
}

export const TYPES_LANE = '$types'

function idOf({ id }: Attributes): string | undefined {
  if (id === undefined || id === null) return undefined
  if (typeof id === 'string') return id
  throw refuse(SUBJECT, [problem('/id', 'is no string')])
}

/** Throws `VALIDATION` with every problem. */
function readType(attributes: Attributes, id: string): Wanted {
  const entity = withId(attributes, id, SUBJECT)
  const own = Object.entries(entity).filter(([name]) => !BOOKKEEPING.has(name))
  const issues: Issue[] = [...checkAttributes([...RESERVED, TEMPLATES], entity), ...commandFailures(entity)].map(
    issueOf,
  )
  const constraints = constraintIds(entity[CONSTRAINTS], issues)
  if (issues.length > 0) throw refuse(SUBJECT, issues)
  const wanted = { own: { ...Object.fromEntries(own), id }, constraints }
  checkSize(wanted.own, SUBJECT)
  return wanted
}

/** Ids, or entries as they are shown. */
function constraintIds(given: unknown, issues: Issue[]): readonly string[] {
  if (given === undefined) return []
  const ids = Array.isArray(given)
    ? given.map((entry: unknown) =>
        typeof entry === 'object' && entry !== null && 'constraintId' in entry ? entry.constraintId : entry,
      )
    : undefined
  if (ids === undefined || !ids.every((id): id is string => typeof id === 'string' && id !== '')) {
    issues.push(problem(`/${CONSTRAINTS}`, 'is no list of ids of constraints', 'write ["<id>", ...]'))
    return []
  }
  if (ids.length > MAX_APPLIED) issues.push(problem(`/${CONSTRAINTS}`, `has more than ${MAX_APPLIED} constraints`))
  return [...new Set(ids)]
}

const MAX_APPLIED = 100

function applying(constraintId: string): AppliedConstraint {
  return { constraintId, status: 'applying' }
}

/** Entries of which no task could ever start. Throws `VALIDATION` with all of them. */
async function checkTemplates(
  { tasks }: TypeDependencies,
  { tenant }: Caller,
  before: TypeRecord | undefined,
  { own }: Wanted,
): Promise<void> {
  const { templates } = own
  if (tasks?.check === undefined || !Array.isArray(templates) || sameJson(before?.own['templates'], templates)) return
  const issues: Issue[] = []
  for (const [i, entry] of templates.entries()) {
    const [wanted] = entriesOf({ id: own.id, templates: [entry as Json] })
    const found = wanted && (await tasks.check(tenant, wanted))
    if (found) issues.push(problem(`/templates/${i}/${found.setting}`, found.message, found.suggestion))
  }
  if (issues.length > 0) throw refuse(SUBJECT, issues)
}

async function nextRecord(
  { recorder, newId }: TypeDependencies,
  tenantResources: TenantResources,
  id: string,
  before: TypeRecord | undefined,
  { own, constraints: ids }: Wanted,
): Promise<TypeRecord> {
  const isSame = before !== undefined && isSearchedAlike(before.own, own)
  const users = await usersOf(tenantResources, id)
  const constraints = await appliedConstraints(tenantResources, ids, before, own, users)
  const hasSameTasks = sameJson(before?.own['templates'], own['templates'])
  const isBusy = users > 0 && (!isSame || !hasSameTasks || constraints.some(({ status }) => status === 'applying'))
  const operation = isBusy ? newId() : before?.operation
  return {
    own,
    constraints,
    mark: isSame ? before.mark : recorder.nextOrder(),
    ...(operation !== undefined && { operation }),
  }
}

function usersOf(tenantResources: TenantResources, id: string): Promise<number> {
  return tenantResources.collections.resources.count([{ field: 'resourceTypeId', op: 'eq', value: id }])
}

/** So that an operation that a type names for the first time can be asked for. */
function planning(
  { now }: TypeDependencies,
  { collections }: TenantResources,
  caller: Caller,
  id: string,
  before: TypeRecord | undefined,
  record: TypeRecord | undefined,
): readonly Write[] {
  const { operation } = record ?? {}
  if (operation === undefined || operation === before?.operation) return []
  const walk = plannedWalk(operation, id, caller.user, now(), 0)
  return [collections.store.collection(OPERATIONS).putting(operation, walk)]
}

async function commit(
  dependencies: TypeDependencies,
  tenantResources: TenantResources,
  caller: Caller,
  id: string,
  before: Stored<TypeRecord> | undefined,
  record: TypeRecord | undefined,
): Promise<number> {
  const { recorder, typeWork, reconciler } = dependencies
  const { collections } = tenantResources
  const noted = recorder.note(collections, caller, {
    kind: 'resourcetype',
    id,
    before: before && typeEntity(withoutOperation(before.value)),
    after: record && typeEntity(withoutOperation(record)),
  })
  const expect = before?.version ?? 'absent'
  const write =
    record === undefined ? collections.types.deleting(id, expect) : collections.types.putting(id, record, expect)
  const planned = planning(dependencies, tenantResources, caller, id, before?.value, record)
  const { results } = await collections.commit([write, ...noted.writes, ...planned])
  tenantResources.types.put(id, record)
  noted.tell()
  if (planned.length > 0) reconciler.planned(caller.tenant)
  // Also without an operation: a resource may have been linked while nobody seemed to use the type.
  const isOther = record !== undefined && record.mark !== before?.value.mark
  if (isOther || record?.operation !== undefined) typeWork.begin(tenantResources, id)
  return results[0] ?? 0
}

function withoutOperation({ operation: _operation, ...record }: TypeRecord): TypeRecord {
  return record
}
