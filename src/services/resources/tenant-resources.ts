/** Holds the in-memory state of one tenant: collections and caches. */
import { KeyedMutex, KeyedSharedLock, LruCache, type Rights } from '#kernel'
import type { Stored } from '#storage'
import type { ResourceCollections } from './collections.ts'
import type { ConstraintRecord } from './constraints/constraint-schema.ts'
import type { ResourceEntity } from './contract.ts'
import { denormalize } from './denormalize.ts'
import { type ResourceRecord, writeBeats } from './resource-record.ts'
import type { TypeRecord } from './type-record.ts'

const MAX_RESOURCES = 100_000
const MAX_TYPES = 10_000
const MAX_CONSTRAINTS = 10_000

interface View {
  readonly contact: number | undefined
  readonly type: TypeRecord | undefined
  readonly shown: ResourceEntity
}

/** Key of `constraintLock` */
export const ALL_CONSTRAINTS = 'constraints'

export class TenantResources {
  readonly collections: ResourceCollections
  /** cached with their versions, so that writers need not read them first */
  readonly resources: ReadThrough<Stored<ResourceRecord>>
  readonly types: ReadThrough<TypeRecord>
  readonly constraints: ReadThrough<ConstraintRecord>
  readonly lastSeen: LastSeen
  /** serializes writes per resource */
  readonly lanes = new KeyedMutex()
  /** per type: held exclusively while the type changes, so that resources are not checked against a stale version */
  readonly typeLock = new KeyedSharedLock()
  /** one key, held exclusively while a constraint changes, so that it is not deleted while a type applies it */
  readonly constraintLock = new KeyedSharedLock()
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

  /** Returns the rights with which the commands of a resource run; undefined: all rights. */
  async commandRights(id: string): Promise<Rights | undefined> {
    const record = (await this.resources.get(id))?.value
    if (record === undefined || Object.hasOwn(record.own, 'commands')) return record?.rights
    return (await this.typeOf(record))?.rights
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

/** Bounded, and up to date after every `put`; also caches that a document does not exist. */
class ReadThrough<T> {
  readonly #load: (id: string) => Promise<T | undefined>
  readonly #kept: LruCache<string, { readonly value: T | undefined }>
  readonly #loading = new Map<string, Promise<T | undefined>>()

  constructor(load: (id: string) => Promise<T | undefined>, most: number) {
    this.#load = load
    this.#kept = new LruCache(most)
  }

  peek(id: string): { readonly value: T | undefined } | undefined {
    return this.#kept.get(id)
  }

  async get(id: string): Promise<T | undefined> {
    const kept = this.peek(id)
    return kept === undefined ? this.#read(id) : kept.value
  }

  /** Call after a write; `value` is undefined after a deletion. */
  put(id: string, value: T | undefined): void {
    this.#loading.delete(id)
    this.#kept.set(id, { value })
  }

  forget(id: string): void {
    this.#loading.delete(id)
    this.#kept.delete(id)
  }

  #read(id: string): Promise<T | undefined> {
    const under = this.#loading.get(id)
    if (under !== undefined) return under
    const loading = this.#load(id).then(
      (value) => {
        // a concurrent write takes precedence
        if (this.#loading.get(id) === loading) this.put(id, value)
        return value
      },
      (error: unknown) => {
        if (this.#loading.get(id) === loading) this.#loading.delete(id)
        throw error
      },
    )
    this.#loading.set(id, loading)
    return loading
  }
}

/** Writes per commit. Kept small, because a conflict makes the whole commit fail. */
const PORTION = 50

/** Tracks when each resource was last in contact; a crash loses times that are not written yet. */
class LastSeen {
  readonly #collections: ResourceCollections
  /** unwritten contacts by resource, in the order of each resource's first unwritten contact */
  readonly #unwritten = new Map<string, number>()

  constructor(collections: ResourceCollections) {
    this.#collections = collections
  }

  contacted(id: string, time: number): void {
    const before = this.#unwritten.get(id)
    if (before === undefined || before < time) this.#unwritten.set(id, time)
  }

  unwritten(id: string): number | undefined {
    return this.#unwritten.get(id)
  }

  /** Call after a write that includes the contact, or after a deletion. */
  written(id: string, time = Infinity): void {
    const waiting = this.#unwritten.get(id)
    if (waiting !== undefined && waiting <= time) this.#unwritten.delete(id)
  }

  current(own: ResourceEntity): ResourceEntity {
    if (this.#unwritten.size === 0) return own
    const time = this.#unwritten.get(own.id)
    return time === undefined || !isLater(own, time) ? own : { ...own, lastMessageTimestamp: time }
  }

  async flush(most: number): Promise<readonly string[]> {
    const due: (readonly [string, number])[] = []
    for (const entry of this.#unwritten) {
      if (due.length >= most) break
      due.push(entry)
    }
    const written: string[] = []
    for (let at = 0; at < due.length; at += PORTION) written.push(...(await this.#write(due.slice(at, at + PORTION))))
    return written
  }

  async #write(due: readonly (readonly [string, number])[]): Promise<readonly string[]> {
    const found = await this.#collections.resources.getMany(due.map(([id]) => id))
    const stored = new Map(found.map((each) => [each.id, each]))
    const next: Stored<ResourceRecord>[] = []
    for (const [id, time] of due) {
      const before = stored.get(id)
      if (before === undefined || !isLater(before.value.own, time)) this.written(id, time)
      else
        next.push({ ...before, value: { ...before.value, own: { ...before.value.own, lastMessageTimestamp: time } } })
    }
    // after a conflict, the next flush retries
    if (!(await writeBeats(this.#collections, next))) return []
    const times = new Map(due)
    for (const { id } of next) this.written(id, times.get(id))
    return next.map(({ id }) => id)
  }
}

function isLater(own: ResourceEntity, time: number): boolean {
  const known = own['lastMessageTimestamp']
  return typeof known !== 'number' || known < time
}
