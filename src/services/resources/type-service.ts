/** Reads and writes resource types. */
import { type Caller, type Issue, type Json, refuse, requireVersion, sameJson, retryOnConflict } from '#kernel'
import type { Stored, Write } from '#storage'
import type { ChangeRecorder } from './change-recorder.ts'
import { changesOf } from './history.ts'
import { checkAttributes, issueOf } from './constraints/enforcement.ts'
import { RESERVED, TEMPLATES } from './constraints/reserved.ts'
import { appliedConstraints, constraintForms } from './constraint-service.ts'
import type { ListQuery, ManagedTasks, ResourceEntity, TypeApi, Versioned, WriteOptions } from './contract.ts'
import { busyType, problem, typeExists, typeInUse, typeNotFound } from './refusals.ts'
import type { Reconciler } from './managed-tasks/reconciler.ts'
import { lackingTasks } from './managed-tasks/reconciler-record.ts'
import { OPERATIONS, plannedWalk } from './managed-tasks/type-walks.ts'
import { entriesOf } from './managed-tasks/reconcile.ts'
import { listDocuments } from './list/list-documents.ts'
import { readTypeListing } from './list/read-listing.ts'
import { checkSize, TypeAttributes } from './resource-schema.ts'
import type { Attributes } from './attributes.ts'
import { commandFailures } from './resource-service.ts'
import { isSearchedAlike, rightsOfCode } from './resource-record.ts'
import { checkId, patched, versionOf, withId } from './resource-writer.ts'
import { ALL_CONSTRAINTS, type TenantResources } from './tenant-resources.ts'
import { typeEntity, type TypeRecord } from './type-record.ts'
import type { TypeWork } from './type-work.ts'

export interface TypeDependencies {
  readonly recorder: ChangeRecorder
  readonly typeWork: TypeWork
  readonly reconciler: Reconciler
  readonly now: () => number
  readonly newId: () => string
  readonly tasks?: Pick<ManagedTasks, 'check'>
}

/** Attributes without bookkeeping, and ids of constraints; undefined deletes the type. */
interface Wanted {
  readonly own: ResourceEntity
  readonly constraints: readonly string[]
}

type Before = Stored<TypeRecord> | undefined
type Step = (before: Before) => Wanted | undefined | Promise<Wanted | undefined>

const SUBJECT = 'the resource type'
/** Tasks that could not be created, with reasons; not shown in listings. */
const LACKING_TASKS = '$lackingTasks'
const BOOKKEEPING: ReadonlySet<string> = new Set(['$constraints', '$bulkOperation', LACKING_TASKS])

export class Types implements TypeApi {
  readonly #dependencies: TypeDependencies
  readonly #tenantResources: TenantResources
  readonly #caller: Caller

  constructor(dependencies: TypeDependencies, tenantResources: TenantResources, caller: Caller) {
    this.#dependencies = dependencies
    this.#tenantResources = tenantResources
    this.#caller = caller
  }

  async create(body: unknown): Promise<Versioned<ResourceEntity>> {
    const attributes = TypeAttributes.read(body)
    const id = typeof attributes['id'] === 'string' ? attributes['id'] : this.#dependencies.newId()
    const wanted = readType(attributes, id)
    return this.#written(id, undefined, (before) => {
      if (before !== undefined) throw typeExists(id)
      return wanted
    })
  }

  async replace(id: string, body: unknown, options?: WriteOptions): Promise<Versioned<ResourceEntity>> {
    const wanted = readType(TypeAttributes.read(body), id)
    return this.#written(id, options, (before) => {
      if (before === undefined) throw typeNotFound(id)
      return wanted
    })
  }

  async patch(id: string, body: unknown, options?: WriteOptions) {
    const patch = TypeAttributes.read(body)
    checkId(patch, id, SUBJECT)
    let created = false
    const result = await this.#written(id, options, (before) => {
      created = before === undefined
      const own = patched(before?.value.own ?? { id }, patch)
      const { $constraints = before?.value.constraints.map(({ constraintId }) => constraintId) ?? [] } = patch
      return readType({ ...own, $constraints }, id)
    })
    return { ...result, created }
  }

  async remove(id: string, options?: WriteOptions): Promise<void> {
    await this.#write(id, options, async (before) => {
      if (before === undefined) throw typeNotFound(id)
      const users = await this.#usersOf(id)
      if (users > 0) throw typeInUse(users)
      return undefined
    })
  }

  async get(id: string): Promise<Versioned<ResourceEntity>> {
    const found = await this.#stored(id)
    const lacking = await lackingTasks(this.#tenantResources.collections.store, { type: id })
    const value = { ...this.#show(found.value), ...(lacking.length > 0 && { [LACKING_TASKS]: lacking }) }
    return { value, version: versionOf(found) }
  }

  async list(query: ListQuery) {
    const { types } = this.#tenantResources.collections
    return listDocuments(types, readTypeListing(query), (record) => this.#show(record))
  }

  async changes(id: string, query: ListQuery) {
    const page = await changesOf(this.#tenantResources.collections.history, 'resourcetype', id, query)
    if (page.total === 0) throw typeNotFound(id)
    return page
  }

  async constraints(id: string, form: Parameters<TypeApi['constraints']>[1], query: ListQuery = {}): Promise<unknown> {
    return constraintForms(this.#tenantResources, (await this.#stored(id)).value, form, query)
  }

  revalidate(id: string): Promise<Versioned<ResourceEntity>> {
    return this.#aloneWith(id, async () => {
      const before = await this.#stored(id)
      const { value } = before
      if (value.constraints.some(({ status }) => status === 'applying')) throw busyType(id)
      const constraints = value.constraints.map(({ constraintId }) => ({ constraintId, status: 'applying' }) as const)
      const beats = (value.beats ?? 0) + 1
      const record: TypeRecord = { ...value, constraints, operation: this.#dependencies.newId(), beats }
      return { value: this.#show(record), version: (await this.#commit(id, before, record, [])) - beats }
    })
  }

  #show(record: TypeRecord): ResourceEntity {
    return typeEntity(record, this.#dependencies.reconciler.operationOf(record.own.id))
  }

  async #stored(id: string): Promise<Stored<TypeRecord>> {
    const found = await this.#tenantResources.collections.types.get(id)
    if (found === undefined) throw typeNotFound(id)
    return found
  }

  /** Resources of the type are not written while they are counted and checked. */
  #aloneWith<T>(id: string, work: () => Promise<T>): Promise<T> {
    const { constraintLock, typeLock } = this.#tenantResources
    return constraintLock.shared(ALL_CONSTRAINTS, () => retryOnConflict(() => typeLock.exclusive(id, work)))
  }

  async #written(id: string, options: WriteOptions | undefined, step: Step): Promise<Versioned<ResourceEntity>> {
    const result = await this.#write(id, options, step)
    if (result === undefined) throw typeNotFound(id)
    return result
  }

  #write(id: string, options: WriteOptions | undefined, step: Step): Promise<Versioned<ResourceEntity> | undefined> {
    const { recorder } = this.#dependencies
    const { collections } = this.#tenantResources
    return this.#aloneWith(id, async () => {
      const before = await collections.types.get(id)
      requireVersion(`Resource type ${id}`, before && versionOf(before), options?.ifVersion)
      const wanted = await step(before)
      if (wanted) await this.#checkTemplates(before?.value, wanted)
      const record = wanted && (await this.#nextRecord(id, before?.value, wanted))
      if (before === undefined && record === undefined) return undefined
      const noted = recorder.note(this.#caller, {
        kind: 'resourcetype',
        id,
        before: before && typeEntity(withoutOperation(before.value)),
        after: record && typeEntity(withoutOperation(record)),
      })
      const version = await this.#commit(id, before, record, noted.writes)
      noted.publish()
      return record && { value: this.#show(record), version }
    })
  }

  async #checkTemplates(before: TypeRecord | undefined, { own }: Wanted): Promise<void> {
    const { tasks } = this.#dependencies
    const { templates } = own
    if (tasks?.check === undefined || !Array.isArray(templates) || sameJson(before?.own['templates'], templates)) return
    const issues: Issue[] = []
    for (const [i, entry] of templates.entries()) {
      const [wanted] = entriesOf({ id: own.id, templates: [entry as Json] })
      const found = wanted && (await tasks.check(wanted))
      if (found) issues.push(problem(`/templates/${i}/${found.setting}`, found.message, found.suggestion))
    }
    if (issues.length > 0) throw refuse(SUBJECT, issues)
  }

  async #nextRecord(id: string, before: TypeRecord | undefined, wanted: Wanted): Promise<TypeRecord> {
    const { recorder, newId } = this.#dependencies
    const { own } = wanted
    const isSame = before !== undefined && isSearchedAlike(before.own, own)
    const users = await this.#usersOf(id)
    const constraints = await appliedConstraints(this.#tenantResources, wanted.constraints, before, own, users)
    const hasSameTasks = sameJson(before?.own['templates'], own['templates'])
    const isBusy = users > 0 && (!isSame || !hasSameTasks || constraints.some(({ status }) => status === 'applying'))
    const operation = isBusy ? newId() : before?.operation
    return {
      own,
      constraints,
      mark: isSame ? before.mark : recorder.nextOrder(),
      ...rightsOfCode(before, own, this.#caller),
      ...(operation !== undefined && { operation }),
    }
  }

  #usersOf(id: string): Promise<number> {
    return this.#tenantResources.collections.resources.count([{ field: 'resourceTypeId', op: 'eq', value: id }])
  }

  async #commit(id: string, before: Before, record: TypeRecord | undefined, noted: readonly Write[]): Promise<number> {
    const { now, typeWork, reconciler } = this.#dependencies
    const { types, store, commit } = this.#tenantResources.collections
    const { user } = this.#caller
    const expect = before?.version ?? 'absent'
    const write = record === undefined ? types.deleting(id, expect) : types.putting(id, record, expect)
    const operation = record?.operation
    // store the operation with the type, since clients may read it as soon as the type names it
    const isNew = operation !== undefined && operation !== before?.value.operation
    const walk = isNew
      ? [store.collection(OPERATIONS).putting(operation, plannedWalk(operation, id, user, now(), 0))]
      : []
    const { results } = await commit([write, ...noted, ...walk])
    this.#tenantResources.types.put(id, record)
    if (isNew) reconciler.planned()
    const isOther = record !== undefined && record.mark !== before?.value.mark
    if (isOther || operation !== undefined) typeWork.begin(id)
    return results[0] ?? 0
  }
}

function readType(attributes: Attributes & { readonly $constraints?: readonly string[] }, id: string): Wanted {
  const entity = withId(attributes, id, SUBJECT)
  const own = Object.entries(entity).filter(([name]) => !BOOKKEEPING.has(name))
  const failures = [...checkAttributes([...RESERVED, TEMPLATES], entity), ...commandFailures(entity)]
  if (failures.length > 0) throw refuse(SUBJECT, failures.map(issueOf))
  const wanted = { own: { ...Object.fromEntries(own), id }, constraints: attributes.$constraints ?? [] }
  checkSize(wanted.own, SUBJECT)
  return wanted
}

function withoutOperation({ operation: _operation, ...record }: TypeRecord): TypeRecord {
  return record
}
