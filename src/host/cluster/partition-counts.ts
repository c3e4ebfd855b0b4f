/**
 * Tracks how many partitions each tenant has: the store's count changes only while all fences are held; hints may be
 * too high.
 */
import { type OpenTenants, partitionName, readPartitionName } from '#cluster'
import { AppError, type Logger, messageOf } from '#kernel'
import { type CollectionSpec, type Storage, type Store, walk } from '#storage'
import { HOST_TENANT } from '../auth/host-tenant.ts'
import type { Timers } from '../timers.ts'

interface CountRecord {
  readonly count: number
}

export const PARTITION_COUNTS: CollectionSpec<CountRecord> = { name: 'partitions', version: 1, fields: {} }
export const COUNT_ID = 'count'
export const PARTITION_HINTS: CollectionSpec<CountRecord> = { name: 'partitioned_tenants', version: 1, fields: {} }

/** Returns the name of a partition's fence; the first partition uses the tenant's usual one. */
export function fenceOf(number: number): string {
  return number === 0 ? 'tenant' : `tenant/${number}`
}

export async function readCount(store: Store): Promise<number> {
  return (await store.collection(PARTITION_COUNTS).get(COUNT_ID))?.value.count ?? 1
}

async function readHints(host: Store): Promise<ReadonlyMap<string, number>> {
  const hints = new Map<string, number>()
  for await (const { id, value } of walk(host.collection(PARTITION_HINTS))) hints.set(id, value.count)
  return hints
}

/** Checks for a single host, which only serves whole tenants, that no tenant has several partitions. Throws `STORE`. */
export async function requireWhole(host: Store): Promise<void> {
  const [first] = [...(await readHints(host))].filter(([, count]) => count > 1)
  if (first === undefined) return
  const [tenant, count] = first
  throw new AppError(
    'STORE',
    `Tenant ${tenant} has ${count} partitions on hosts of a cluster; start this host with --cluster`,
  )
}

/** Interval between reads of the hints, in ms */
const LOOK_MS = 1_000

interface Counted {
  readonly count: number
}

export class PartitionCounts {
  readonly #storage: Storage
  readonly #timers: Pick<Timers, 'elapsed'>
  readonly #logger: Logger
  #hints: ReadonlyMap<string, number> = new Map()
  #lookedAt = Number.NEGATIVE_INFINITY
  #isLooking = false

  constructor(storage: Storage, timers: Pick<Timers, 'elapsed'>, logger: Logger) {
    this.#storage = storage
    this.#timers = timers
    this.#logger = logger
  }

  of(tenant: string): number {
    return this.#hints.get(tenant) ?? 1
  }

  async names(): Promise<readonly string[]> {
    const [tenants, hints] = await Promise.all([this.#storage.tenants(), readHints(this.#storage.tenant(HOST_TENANT))])
    this.#hints = hints
    return tenants.flatMap((tenant) =>
      Array.from({ length: this.of(tenant) }, (_, number) => partitionName(tenant, number)),
    )
  }

  /** Reopens tenants whose count has changed. Called periodically; never waits. */
  look(tenants: Pick<OpenTenants<Counted>, 'renew' | 'incomplete'>): void {
    if (this.#isLooking || this.#timers.elapsed() - this.#lookedAt < LOOK_MS) return
    this.#lookedAt = this.#timers.elapsed()
    this.#isLooking = true
    this.#look(tenants)
      .catch((error: unknown) =>
        this.#logger.warn(`counts of partitions could not be read, retrying: ${messageOf(error)}`),
      )
      .finally(() => (this.#isLooking = false))
  }

  async #look(tenants: Pick<OpenTenants<Counted>, 'renew' | 'incomplete'>): Promise<void> {
    const before = this.#hints
    this.#hints = await readHints(this.#storage.tenant(HOST_TENANT))
    if (this.#hints.size !== before.size || [...this.#hints].some(([tenant, count]) => before.get(tenant) !== count)) {
      tenants.incomplete()
    }
    const other = new Map<string, number>()
    tenants.renew(({ count }, name) => {
      const { tenant } = readPartitionName(name)
      if (count !== this.of(tenant)) other.set(tenant, count)
      return true
    })
    for (const tenant of other.keys()) other.set(tenant, await readCount(this.#storage.tenant(tenant)))
    if (other.size > 0) {
      tenants.renew(({ count }, name) => (other.get(readPartitionName(name).tenant) ?? count) === count)
    }
  }
}
