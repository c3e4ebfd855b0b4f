/** The object storage of one tenant, on top of its store and a content store. */
import type { Caller, Logger, StartTimer } from '#kernel'
import type { Store } from '#storage'
import { bucketsOf } from './buckets.ts'
import { CallerObjects } from './caller-objects.ts'
import type { ContentStore, ObjectChange, ObjectChanges, ObjectsApi } from './contract.ts'
import { type ObjectTable, openTable } from './object-table.ts'
import { ObjectWriter } from './object-writer.ts'
import { OrphanedContents } from './orphaned-contents.ts'
import type { SigningKeys } from './signing/signing-keys.ts'

export interface ObjectsOptions {
  readonly tenant: string
  readonly store: Store
  readonly contents: ContentStore
  readonly keys: SigningKeys
  readonly now: () => number
  readonly newId: () => string
  readonly later: StartTimer
  readonly logger: Logger
  /** address of this host, such as `https://host:8080` */
  readonly origin: () => string
}

export class Objects {
  readonly inside: ObjectsApi
  readonly changes: ObjectChanges
  readonly #users: ObjectsApi
  readonly #orphans: OrphanedContents
  readonly #writer: ObjectWriter
  readonly #listeners = new Set<() => void>()
  #put = 0
  #removed = 0

  constructor(options: ObjectsOptions) {
    const { tenant, store, contents } = options
    const table = openTable(store)
    const orphans = new OrphanedContents({ ...options, table })
    const writer = new ObjectWriter({
      ...options,
      table,
      orphans,
      changed: ({ put, removed }) => {
        this.#put += put
        this.#removed += removed
        for (const listener of this.#listeners) listener()
      },
    })
    const api = (isInside: boolean): ObjectsApi =>
      new CallerObjects({ ...options, table, writer, orphans, buckets: bucketsOf(tenant, contents.shown, isInside) })
    this.inside = api(true)
    this.#users = api(false)
    this.changes = changesOf(table)
    this.#orphans = orphans
    this.#writer = writer
  }

  as(_caller: Caller): ObjectsApi {
    return this.#users
  }

  onChanges(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async start(): Promise<void> {
    this.#orphans.wake()
  }

  stop(): Promise<void> {
    return this.#orphans.stop()
  }

  settled(): Promise<void> {
    return this.#orphans.idle()
  }

  /** `uploads`: contents being received. `put` and `removed`: totals since the start. */
  gauges() {
    return { uploads: this.#writer.uploads, put: this.#put, removed: this.#removed }
  }
}

function changesOf({ changes }: ObjectTable): ObjectChanges {
  return {
    read: async (after, limit) => {
      const entries = await changes.read(after, limit)
      // ObjectWriter wrote the body
      return entries.map(({ position, body }) => ({
        ...(body as unknown as Omit<ObjectChange, 'position'>),
        position,
      }))
    },
    bounds: () => changes.bounds(),
    trim: (upTo) => changes.trim(upTo),
  }
}
