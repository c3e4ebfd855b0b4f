/** Holds the in-memory state of one tenant: collections and caches. */
import { KeyedMutex, KeyedSharedLock } from '#kernel'
import type { Stored } from '#storage'
import type { ResourceCollections } from './collections.ts'
import type { ConstraintRecord } from './constraints/constraint-schema.ts'
import { LastSeen } from './last-seen.ts'
import type { ResourceEntity } from './contract.ts'
import { denormalize } from './denormalize.ts'
import type { ResourceRecord } from './resource-record.ts'
import { ReadThrough } from './read-through.ts'
import type { TypeRecord } from './type-record.ts'

const MAX_RESOURCES = 100_000
const MAX_TYPES = 10_000
const MAX_CONSTRAINTS = 10_000

interface View {
  readonly contact: number | undefined
  readonly type: TypeRecord | undefined
  readonly shown: ResourceEntity
}

export class TenantResources {
  readonly collections: ResourceCollections
  /** cached with their versions, so that writers need not read them first */
  readonly resources: ReadThrough<Stored<ResourceRecord>>
  readonly types: ReadThrough<TypeRecord>
  readonly constraints: ReadThrough<ConstraintRecord>
  readonly lastSeen: LastSeen
  /** serializes writes per resource, and writes of types and constraints (`TYPES_LANE`) */
  readonly lanes = new KeyedMutex()
  /** per type: held exclusively while the type changes, so that resources are not checked against a stale version */
  readonly typeLock = new KeyedSharedLock()
  readonly known = new Set<string>()
  readonly #views = new WeakMap<ResourceRecord, View>()

  constructor(collections: ResourceCollections, mostResources = MAX_RESOURCES) {
    this.collections = collections
    this.resources = new ReadThrough((id) => collections.resources.get(id), mostResources)
    this.types = new ReadThrough(async (id) => (await collections.types.get(id))?.value, MAX_TYPES)
    this.constraints = new ReadThrough(async (id) => (await collections.constraints.get(id))?.value, MAX_CONSTRAINTS)
    this.lastSeen = new LastSeen(collections)
  }

  lookup(id: string): ResourceEntity | undefined | Promise<ResourceEntity | undefined> {
    const kept = this.resources.peek(id)
    if (kept === undefined) return this.#read(id)
    const record = kept.value?.value
    if (record === undefined) return undefined
    const typeId = typeIdOf(record)
    if (typeId === undefined) return this.#show(record, undefined)
    const type = this.types.peek(typeId)
    return type === undefined ? this.#read(id) : this.#show(record, type.value)
  }

  show(record: ResourceRecord, type: TypeRecord | undefined): ResourceEntity {
    return denormalize(this.lastSeen.current(record.own), type?.own)
  }

  typeOf(record: ResourceRecord): Promise<TypeRecord | undefined> | undefined {
    const typeId = typeIdOf(record)
    return typeId === undefined ? undefined : this.types.get(typeId)
  }

  async writeLastSeen(most: number): Promise<void> {
    for (const id of await this.lastSeen.flush(most)) this.resources.forget(id)
  }

  async #read(id: string): Promise<ResourceEntity | undefined> {
    const record = (await this.resources.get(id))?.value
    return record && this.#show(record, await this.typeOf(record))
  }

  #show(record: ResourceRecord, type: TypeRecord | undefined): ResourceEntity {
    const contact = this.lastSeen.unwritten(record.own.id)
    const known = this.#views.get(record)
    if (known !== undefined && known.type === type && known.contact === contact) return known.shown
    const shown = this.show(record, type)
    this.#views.set(record, { contact, type, shown })
    return shown
  }
}

export function typeIdOf({ own }: ResourceRecord): string | undefined {
  const id = own['resourceTypeId']
  return typeof id === 'string' ? id : undefined
}
