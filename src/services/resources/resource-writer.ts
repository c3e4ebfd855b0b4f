/** Writes resources, each in one commit with the history (RESOURCE-1). */
import { type Caller, isTooLongForId, type Json, MAX_ID_BYTES, refuse, requireVersion, retryOnConflict } from '#kernel'
import { type EffectOfTask, isAddressable, NOT_ADDRESSABLE } from '#services/shared'
import type { Stored, Write } from '#storage'
import { type Attributes, textAt } from './attributes.ts'
import type { ChangeRecorder } from './change-recorder.ts'
import { enforce } from './constraints/enforcement.ts'
import type { ResourceEntity, Versioned, WriteOptions } from './contract.ts'
import { problem } from './refusals.ts'
import { type ResourceRecord, rightsOfCode, searchedOf } from './resource-record.ts'
import { checkSize } from './resource-schema.ts'
import type { TenantResources } from './tenant-resources.ts'
import type { TypeRecord } from './type-record.ts'
import type { TypeWork } from './type-work.ts'

export interface WriterDependencies {
  readonly recorder: ChangeRecorder
  readonly typeWork: TypeWork
  readonly now: () => number
}

/** Returns a resource's own attributes after the change; undefined deletes the resource. */
export type Step = (
  before: ResourceEntity | undefined,
) => ResourceEntity | undefined | Promise<ResourceEntity | undefined>

export interface Written {
  readonly caller: Caller
  readonly id: string
  readonly options?: WriteOptions | undefined
  readonly message?: Json
  readonly cascaded?: readonly string[]
  readonly cause?: EffectOfTask | undefined
  readonly step: Step
}

export class ResourceWriter {
  readonly #tenantResources: TenantResources
  readonly #dependencies: WriterDependencies
  readonly #parents: Parents
  readonly #inherited = new WeakMap<TypeRecord, { readonly searched: Attributes | undefined }>()

  constructor(tenantResources: TenantResources, dependencies: WriterDependencies) {
    this.#tenantResources = tenantResources
    this.#dependencies = dependencies
    this.#parents = new Parents(tenantResources)
  }

  /** Resolves to undefined after a deletion. */
  write(written: Written): Promise<Versioned<ResourceEntity> | undefined> {
    return this.#tenantResources.lanes.run(written.id, () => this.#write(written))
  }

  async #write(written: Written): Promise<Versioned<ResourceEntity> | undefined> {
    const { resources, collections } = this.#tenantResources
    const kept = resources.peek(written.id)
    if (kept !== undefined) {
      try {
        return await this.#try(written, kept.value)
      } catch {
        // the cache may be stale, so retry with the stored version
      }
    }
    return retryOnConflict(async () => this.#try(written, await collections.resources.get(written.id)))
  }

  async #try(
    written: Written,
    stored: Stored<ResourceRecord> | undefined,
  ): Promise<Versioned<ResourceEntity> | undefined> {
    const { id, options, step, cause } = written
    requireVersion(`Resource ${id}`, stored && versionOf(stored), options?.ifVersion)
    const before = stored && this.#tenantResources.lastSeen.current(stored.value.own)
    const effects = cause && (await this.#admitted(id, cause))
    if (effects === 'again') return stored && before && { value: before, version: versionOf(stored) }
    const result = step(before)
    const after = result instanceof Promise ? await result : result
    if (after === undefined) {
      if (stored !== undefined) await this.#commit(written, stored, before, undefined, effects)
      return undefined
    }
    checkSize(after, 'the resource')
    const save = async (): Promise<Versioned<ResourceEntity>> => {
      const record = {
        ...(await this.#recordOf(after)),
        ...rightsOfCode(stored?.value, after, written.caller),
      }
      const parent = textAt(after, 'parentId')
      const commit = () => this.#commit(written, stored, before, record, effects)
      const version =
        parent === undefined || (before !== undefined && textAt(before, 'parentId') === parent)
          ? await commit()
          : await this.#parents.linking(id, parent, commit)
      return { value: after, version }
    }
    const typeId = textAt(after, 'resourceTypeId')
    return typeId === undefined ? save() : this.#tenantResources.typeLock.shared(typeId, save)
  }

  /** Returns the writes that record the effect, or `again` if it was already the last effect. Throws `SUPERSEDED`. */
  async #admitted(id: string, cause: EffectOfTask): Promise<'again' | readonly Write[]> {
    const draft = this.#tenantResources.collections.effects.draft(this.#dependencies.now())
    const { isAgain, note } = await draft.admit([`resource:${id}`], cause)
    if (isAgain) return 'again'
    note()
    return draft.writes()
  }

  async #recordOf(own: ResourceEntity): Promise<ResourceRecord> {
    const typeId = textAt(own, 'resourceTypeId')
    const type = typeId === undefined ? undefined : await this.#tenantResources.types.get(typeId)
    if (type === undefined) return { own }
    if (type.constraints.length > 0) await enforce(this.#tenantResources, own, type)
    let inherited = this.#inherited.get(type)
    if (inherited === undefined) this.#inherited.set(type, (inherited = { searched: searchedOf(type.own) }))
    const { searched } = inherited
    return { own, ...(searched && { inherited: searched }), typeMark: type.mark }
  }

  async #commit(
    { caller, id, message, cascaded }: Written,
    stored: Stored<ResourceRecord> | undefined,
    before: ResourceEntity | undefined,
    record: ResourceRecord | undefined,
    effects: readonly Write[] = [],
  ): Promise<number> {
    const { collections, resources, known, lastSeen } = this.#tenantResources
    const noted = this.#dependencies.recorder.note(caller, {
      kind: 'resource',
      id,
      before,
      after: record?.own,
      ...(message !== undefined && { message }),
      ...(cascaded && { cascaded }),
    })
    const expect = stored ?? 'absent'
    const write =
      record === undefined
        ? collections.resources.deleting(id, expect)
        : collections.resources.putting(id, record, expect)
    const { results } = await collections.commit([write, ...noted.writes, ...effects])
    const version = results[0]
    if (version === undefined) resources.forget(id)
    else resources.put(id, record && { id, version, value: record })
    if (record === undefined) known.delete(id)
    const contact = record?.own['lastMessageTimestamp']
    lastSeen.written(id, record === undefined || typeof contact !== 'number' ? Infinity : contact)
    noted.publish()
    if (record !== undefined) this.#dependencies.typeWork.followUp(record)
    return version ?? 0
  }
}

export function versionOf({ version, value }: Stored<{ readonly beats?: number }>): number {
  return version - (value.beats ?? 0)
}

/** Adds the id in the path; a null id counts as absent. */
export function withId(attributes: Attributes, id: string, subject: string): ResourceEntity {
  checkId(attributes, id, subject)
  checkAddressable(id, subject)
  return overlaid({}, attributes, id)
}

export function checkAddressable(id: string, subject: string): void {
  if (!isAddressable(id)) throw refuse(subject, [problem('/id', NOT_ADDRESSABLE, 'choose another id')])
}

export function checkId({ id: bodyId }: Attributes, id: string, subject: string): void {
  if (isTooLongForId(id)) throw refuse(subject, [problem('/id', `has more than ${MAX_ID_BYTES} bytes`, 'shorten it')])
  if (bodyId === undefined || bodyId === null || bodyId === id) return
  const message = `is ${JSON.stringify(bodyId)}, but the path contains ${JSON.stringify(id)}`
  throw refuse(subject, [problem('/id', message, 'omit it')])
}

export function patched(before: ResourceEntity, patch: Attributes): ResourceEntity {
  return overlaid(before, patch, before.id)
}

function overlaid(before: Attributes, patch: Attributes, id: string): ResourceEntity {
  const next: Record<string, Json> & { id: string } = { ...before, id }
  for (const [name, value] of Object.entries<Json | undefined>(patch)) {
    if (name === 'id' || value === undefined) continue
    if (value === null) delete next[name]
    else next[name] = value
  }
  return next
}

const MAX_ANCESTORS = 10_000

/** Prevents cycles of parents, even with concurrent writers. */
class Parents {
  readonly #tenantResources: TenantResources
  readonly #underWay = new Map<string, Map<string, number>>()

  constructor(tenantResources: TenantResources) {
    this.#tenantResources = tenantResources
  }

  /** Throws `VALIDATION` that names the cycle; of two writers that close one together, at least one fails. */
  async linking<T>(id: string, parent: string, work: () => Promise<T>): Promise<T> {
    const links = this.#underWay.get(id) ?? new Map<string, number>()
    this.#underWay.set(id, links.set(parent, (links.get(parent) ?? 0) + 1))
    try {
      await this.#check(id, parent)
      return await work()
    } finally {
      const left = (links.get(parent) ?? 1) - 1
      if (left === 0) links.delete(parent)
      else links.set(parent, left)
      if (links.size === 0) this.#underWay.delete(id)
    }
  }

  async #check(id: string, parent: string): Promise<void> {
    /** each ancestor, with its child on the path */
    const over = new Map<string, string>([[parent, id]])
    const open = [parent]
    for (let next = open.pop(); next !== undefined && over.size <= MAX_ANCESTORS; next = open.pop()) {
      if (next === id) throw circle(id, over)
      for (const above of await this.#parentsOf(next)) {
        if (above === id) throw circle(id, new Map([...over, [id, next]]))
        if (over.has(above)) continue
        over.set(above, next)
        open.push(above)
      }
    }
  }

  async #parentsOf(id: string): Promise<readonly string[]> {
    const record = (await this.#tenantResources.resources.get(id))?.value
    const stored = record && textAt(record.own, 'parentId')
    const others = this.#underWay.get(id)
    return [...(stored === undefined ? [] : [stored]), ...(others?.keys() ?? [])]
  }
}

const MAX_NAMED = 20

function circle(id: string, over: ReadonlyMap<string, string>): Error {
  const back: string[] = [id]
  for (let at = over.get(id); at !== undefined && at !== id && back.length < MAX_NAMED; at = over.get(at)) back.push(at)
  const chain = [id, ...back.slice(1).reverse(), id].join(' -> ')
  return refuse('the resource', [
    problem('/parentId', `the resource would be its own ancestor: ${chain}`, 'choose another parent'),
  ])
}
