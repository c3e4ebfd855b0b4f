/** Managed tasks follow resources and types, for all tenants of a host (RESOURCE-3 of the contract). */
import { Semaphore, type Logger, type StartTimer } from '#kernel'
import type { CollectionsByTenant } from '../collections.ts'
import type { ManagedTasks } from '../contract.ts'
import { TenantReconciler } from './tenant-reconciler.ts'

export interface ReconcilerOptions {
  readonly collectionsByTenant: CollectionsByTenant
  readonly tasks: ManagedTasks
  /** epoch ms */
  readonly now: () => number
  /** ids of operations; never the same twice */
  readonly newId: () => string
  readonly later: StartTimer
  readonly logger?: Logger | undefined
  /** resources of a type that are walked at a time; default 200 */
  readonly slice?: number
}

/** Resources at a time, over all tenants: enough that the store can put their commits together. */
const AT_ONCE = 64

export class Reconciler {
  readonly #options: ReconcilerOptions
  readonly #limit = new Semaphore(AT_ONCE)
  readonly #tenants = new Map<string, TenantReconciler>()
  #isRunning = false

  constructor(options: ReconcilerOptions) {
    this.#options = options
  }

  /** resources whose managed tasks are not yet as they should be */
  get waiting(): number {
    let count = 0
    for (const tenant of this.#tenants.values()) count += tenant.waiting
    return count
  }

  /** Resumes what was under way, for every tenant. */
  async start(): Promise<void> {
    this.#isRunning = true
    for (const tenant of await this.#options.collectionsByTenant.ownTenants()) {
      await this.#of(tenant).start()
      this.wake(tenant)
    }
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    await Promise.all([...this.#tenants.values()].map((tenant) => tenant.stop()))
  }

  /** After a commit that has entries in the log of changes. Never waits. */
  wake(tenant: string): void {
    // before the start there is nothing to lose: the start reads the log
    if (this.#isRunning) this.#of(tenant).wake()
  }

  /** An operation over a type's resources was committed with the type. Never waits. */
  planned(tenant: string): void {
    this.#tenants.get(tenant)?.planned()
  }

  /** A template was made or changed: what could not be made of it is tried again. Never waits. */
  templateWritten(tenant: string, template: string): void {
    this.#tenants.get(tenant)?.retry(template)
  }

  /** The operation that is under way over the resources of a type: `$bulkOperation`. */
  operationOf(tenant: string, type: string): string | undefined {
    return this.#tenants.get(tenant)?.operationOf(type)
  }

  /** Resolves when all that was written before is done, as far as it can be. */
  async idle(): Promise<void> {
    await Promise.all([...this.#tenants.values()].map((tenant) => tenant.idle()))
  }

  #of(tenant: string): TenantReconciler {
    const known = this.#tenants.get(tenant)
    if (known !== undefined) return known
    const { collectionsByTenant, ...parts } = this.#options
    const reconciler = new TenantReconciler({
      ...parts,
      collections: collectionsByTenant.of(tenant),
      limit: this.#limit,
    })
    this.#tenants.set(tenant, reconciler)
    return reconciler
  }
}
