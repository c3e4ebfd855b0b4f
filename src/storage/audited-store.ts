/**
 * Records who changed which documents, in the commit of the change.
 *
 * AUDIT-1 an entry is durable if and only if its change is
 * AUDIT-2 entries are never changed; only their age removes them
 * AUDIT-3 commits take effect in the order of their calls, audited or not
 */
import { type Actor, type Difference, differenceOf } from '#kernel'
import { isStored } from './checked-store.ts'
import { committedCollection } from './committed-collection.ts'
import type {
  ActingAs,
  Collection,
  CollectionSpec,
  Committed,
  Document,
  ExpectedDocument,
  Storage,
  Store,
  Write,
} from './contract.ts'
import { AUDIT_COLLECTION, MAX_GET_MANY } from './limits.ts'

export interface AuditEntry extends Actor {
  /** epoch ms */
  readonly at: number
  readonly changes: readonly AuditedChange[]
}

export interface AuditedChange {
  readonly collection: string
  readonly id: string
  readonly change: 'created' | 'changed' | 'removed'
  readonly difference: readonly Difference[]
}

/** Entries of a store; their ids are in the order of time. */
export const AUDIT_ENTRIES: CollectionSpec<AuditEntry> = {
  name: AUDIT_COLLECTION,
  version: 1,
  fields: {
    at: { type: 'number', of: ({ at }) => at },
    tenant: { type: 'text', of: ({ tenant }) => tenant },
    user: { type: 'text', of: ({ user }) => user },
    path: { type: 'text', of: ({ path }) => path.slice(0, 500) },
  },
}

export interface Auditing {
  /** Returns the actor of the running work; undefined: the work is not audited */
  readonly actor: () => Actor | undefined
  readonly actingAs: ActingAs
  /** Returns epoch ms */
  readonly now: () => number
  /** Returns an id that sorts by the time */
  readonly newId: (time: number) => string
}

type Change = Extract<Write, { kind: 'put' | 'delete' }>

/** Writes of collections that are `audited`, by an actor, are committed with an entry in the same store. */
export function auditedStorage(storage: Storage, auditing: Auditing): Storage {
  return {
    tenant: (id) => new AuditedStore(storage.tenant(id), auditing),
    tenants: () => storage.tenants(),
    close: () => storage.close(),
    stats: () => storage.stats(),
    presence: storage.presence,
    ...(storage.notify && { notify: async (word: string) => storage.notify?.(word) }),
  }
}

class AuditedStore implements Store {
  readonly series: Store['series']
  readonly #store: Store
  readonly #auditing: Auditing
  /** Actors of writes that were built before the commit that several actors share */
  readonly #actors = new WeakMap<Write, Actor>()
  /** Documents that writers read before; their versions are checked by the commit */
  readonly #read = new WeakMap<Write, Document>()
  /** Resolves when the entries of all earlier commits are made; absent: no commit waits */
  #before: Promise<void> | undefined

  constructor(store: Store, auditing: Auditing) {
    this.#store = store
    this.#auditing = auditing
    this.series = store.series
  }

  get actingAs(): ActingAs {
    return this.#auditing.actingAs
  }

  get blobs(): Store['blobs'] {
    return this.#store.blobs
  }

  collection<D extends Document>(spec: CollectionSpec<D>): Collection<D> {
    const inner = this.#store.collection(spec)
    const commit = (writes: readonly Write[]): Promise<Committed> => this.commit(writes)
    if (spec.audited !== true) return committedCollection(inner, commit)
    // several actors may share a commit
    const noted = (write: Write, expect: ExpectedDocument | undefined): Write => {
      const actor = this.#auditing.actor()
      if (actor !== undefined) this.#actors.set(write, actor)
      if (isStored(expect)) this.#read.set(write, expect.value)
      return write
    }
    const putting: typeof inner.putting = (id, value, expect) => noted(inner.putting(id, value, expect), expect)
    const deleting: typeof inner.deleting = (id, expect) => noted(inner.deleting(id, expect), expect)
    return committedCollection({ ...inner, putting, deleting }, commit)
  }

  log(name: string): ReturnType<Store['log']> {
    const log = this.#store.log(name)
    return {
      ...log,
      append: async (bodies) => {
        const { results } = await this.commit([log.appending(bodies)])
        return results[0] ?? 0
      },
    }
  }

  commit(writes: readonly Write[]): Promise<Committed> {
    const changes = this.#changesIn(writes)
    const before = this.#before
    if (changes.size === 0 && before === undefined) return this.#store.commit(writes)
    const begun = this.#begin(writes, changes, before)
    const settled = begun.then(ignore, ignore)
    this.#before = settled
    void settled.then(() => this.#forget(settled))
    return begun.then(async ({ committed }) => {
      const { results } = await committed
      return { results: results.slice(0, writes.length) }
    })
  }

  now(): ReturnType<Store['now']> {
    return this.#store.now()
  }

  #forget(settled: Promise<void>): void {
    if (this.#before === settled) this.#before = undefined
  }

  /** Resolves when the commit has begun; `committed` is wrapped, so that its end is not awaited. */
  async #begin(
    writes: readonly Write[],
    changes: ReadonlyMap<Actor, readonly Change[]>,
    before: Promise<void> | undefined,
  ): Promise<{ readonly committed: Promise<Committed> }> {
    // earlier commits are begun first, so that their order is kept
    await before
    const entries: Write[] = []
    for (const [actor, changed] of changes) entries.push(...(await this.#entriesOf(actor, changed)))
    const committed = this.#store.commit([...writes, ...entries])
    committed.catch(ignore)
    return { committed }
  }

  #changesIn(writes: readonly Write[]): ReadonlyMap<Actor, readonly Change[]> {
    const changes = new Map<Actor, Change[]>()
    for (const write of writes) {
      if ((write.kind !== 'put' && write.kind !== 'delete') || write.collection.audited !== true) continue
      const actor = this.#actors.get(write) ?? this.#auditing.actor()
      if (actor === undefined) continue
      const known = changes.get(actor)
      if (known === undefined) changes.set(actor, [write])
      else known.push(write)
    }
    return changes
  }

  async #entriesOf(actor: Actor, writes: readonly Change[]): Promise<readonly Write[]> {
    const former = await this.#formerOf(writes)
    const changes = writes.flatMap((write, index): readonly AuditedChange[] => {
      const from = former[index]
      const to = write.kind === 'put' ? write.value : undefined
      const difference = differenceOf(from, to)
      if (difference.length === 0) return []
      const change = from === undefined ? 'created' : to === undefined ? 'removed' : 'changed'
      return [{ collection: write.collection.name, id: write.id, change, difference }]
    })
    const at = this.#auditing.now()
    const entries = this.#store.collection(AUDIT_ENTRIES)
    return entriesFor(changes).map((part) =>
      entries.putting(this.#auditing.newId(at), { ...actor, at, changes: part }, 'absent'),
    )
  }

  async #formerOf(writes: readonly Change[]): Promise<readonly (Document | undefined)[]> {
    const former = new Map<string, Document>()
    const idsOf = new Map<CollectionSpec<never>, string[]>()
    for (const write of writes) {
      const { collection, id, expect } = write
      if (expect === 'absent' || this.#read.has(write)) continue
      const ids = idsOf.get(collection)
      if (ids === undefined) idsOf.set(collection, [id])
      else ids.push(id)
    }
    for (const [spec, ids] of idsOf) {
      const collection = this.#store.collection<Document>(spec as CollectionSpec<Document>)
      for (let at = 0; at < ids.length; at += MAX_GET_MANY) {
        const found = await collection.getMany(ids.slice(at, at + MAX_GET_MANY))
        for (const { id, value } of found) former.set(`${spec.name}/${id}`, value)
      }
    }
    return writes.map((write) => this.#read.get(write) ?? former.get(`${write.collection.name}/${write.id}`))
  }
}

/** Characters of JSON in an entry, of which each may take three bytes of a document */
const MAX_ENTRY = 300_000

/** Divides changes so that each part fits into an entry. */
function entriesFor(changes: readonly AuditedChange[]): readonly (readonly AuditedChange[])[] {
  const parts: AuditedChange[][] = []
  let size = Infinity
  for (const change of changes) {
    const own = JSON.stringify(change).length
    if (size + own > MAX_ENTRY) {
      parts.push([])
      size = 0
    }
    size += own
    parts.at(-1)?.push(own > MAX_ENTRY ? tooLarge(change) : change)
  }
  return parts
}

function tooLarge({ difference, ...change }: AuditedChange): AuditedChange {
  return { ...change, difference: [{ path: '', to: `${difference.length} differences, too large for an entry` }] }
}

function ignore(): void {
  // the caller awaits the same commit
}
