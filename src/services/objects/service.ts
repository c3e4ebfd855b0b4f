/** The objects service of one host, over storage and a store of contents. */
import { type Caller, KeyedMutex, type Logger, LruCache, type StartTimer } from '#kernel'
import type { Storage } from '#storage'
import { bucketsOf } from './buckets.ts'
import type {
  ContentStore,
  ObjectChange,
  ObjectChanges,
  ObjectsApi,
  ObjectsGauges,
  InternalObjects,
} from './contract.ts'
import { LooseContents } from './loose-contents.ts'
import { openTable, PARTITION, type ObjectTable } from './object-table.ts'
import { ObjectWriter } from './object-writer.ts'
import type { SigningKeys } from './signing/signing-keys.ts'
import { TenantObjects } from './tenant-objects.ts'

export interface ObjectsOptions {
  readonly storage: Storage
  readonly contents: ContentStore
  readonly keys: SigningKeys
  /** epoch ms */
  readonly now: () => number
  /** never the same twice */
  readonly newId: () => string
  readonly later: StartTimer
  readonly logger: Logger
  /** where this host is reached: `https://host:8080` */
  readonly origin: () => string
}

export function createObjectsService(options: ObjectsOptions): InternalObjects {
  return new Objects(options)
}

/** Tables have no state: what is forgotten is opened again. */
const MAX_TABLES = 1_000

class Objects implements InternalObjects {
  readonly #options: ObjectsOptions
  readonly #tables = new LruCache<string, ObjectTable>(MAX_TABLES)
  /** tenants that have something */
  readonly #known = new LruCache<string, string>(MAX_TABLES)
  readonly #loose: LooseContents
  readonly #writer: ObjectWriter
  readonly #listeners = new Set<(tenant: string) => void>()
  #sweeping: Promise<void> = Promise.resolve()
  #put = 0
  #removed = 0

  constructor(options: ObjectsOptions) {
    const { contents, now } = options
    this.#options = options
    this.#loose = new LooseContents(options)
    this.#writer = new ObjectWriter({
      contents,
      loose: this.#loose,
      mutex: new KeyedMutex(),
      now,
      changed: (tenant, { put, removed }) => {
        this.#put += put
        this.#removed += removed
        for (const listener of this.#listeners) listener(tenant)
      },
    })
  }

  as({ tenant }: Caller): ObjectsApi {
    return this.#api(tenant, false)
  }

  inside(tenant: string): ObjectsApi {
    return this.#api(tenant, true)
  }

  changes(tenant: string): ObjectChanges {
    const { changes } = this.#table(tenant)
    return {
      read: async (after, limit) => {
        const entries = await changes.read(PARTITION, after, limit)
        // written by ObjectWriter
        return entries.map(({ position, body }) => ({
          ...(body as unknown as Omit<ObjectChange, 'position'>),
          position,
        }))
      },
      bounds: () => changes.bounds(PARTITION),
      trim: (upTo) => changes.trim(PARTITION, upTo),
    }
  }

  async hasTenant(tenant: string): Promise<boolean> {
    if (this.#known.get(tenant) !== undefined) return true
    const found = (await this.#options.storage.tenants()).includes(tenant)
    if (found) this.#known.set(tenant, tenant)
    return found
  }

  onChanges(listener: (tenant: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What earlier sessions left goes in the background. */
  async start(): Promise<void> {
    const tenants = await this.#options.storage.tenants()
    this.#sweeping = (async () => {
      // one after the other: there may be many
      for (const tenant of tenants) {
        this.#loose.sweep(this.#table(tenant))
        await this.#loose.idle()
      }
    })()
  }

  async stop(): Promise<void> {
    await this.#loose.stop()
    await this.#sweeping
  }

  async settled(): Promise<void> {
    await this.#sweeping
    await this.#loose.idle()
  }

  gauges(): ObjectsGauges {
    return { uploads: this.#writer.uploads, put: this.#put, removed: this.#removed }
  }

  #api(tenant: string, isInside: boolean): ObjectsApi {
    const { contents, keys, now, origin, newId } = this.#options
    return new TenantObjects({
      table: this.#table(tenant),
      writer: this.#writer,
      loose: this.#loose,
      contents,
      now,
      newId,
      buckets: bucketsOf(tenant, contents.shown, isInside),
      keys,
      origin,
    })
  }

  #table(tenant: string): ObjectTable {
    const known = this.#tables.get(tenant)
    if (known !== undefined) return known
    const table = openTable(this.#options.storage, tenant)
    this.#tables.set(tenant, table)
    return table
  }
}
