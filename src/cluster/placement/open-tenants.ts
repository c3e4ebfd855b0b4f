/**
 * Manages the tenants open on this host. Tenants are opened when their slots are taken over or on demand, closed when a
 * slot is given away, and dropped when another host owns them. The caller defines what opening means.
 *
 * OPENTENANTS-1 at most one instance of a tenant is open for each term, and an instance that another host took over is
 *   never returned
 */
import { AppError, type Logger, messageOf } from '#kernel'
import type { TenantLocation } from './placement.ts'
import { slotOf } from './slots.ts'

export interface OpenTenantsOptions<T> {
  readonly tenants: () => Promise<readonly string[]>
  readonly locate: (tenant: string) => TenantLocation
  /** Takes the tenant's fence for the term before reading. Calls `lost` when another host takes the fence. */
  readonly open: (tenant: string, term: number, lost: () => void) => Promise<T>
  readonly close: (opened: T, tenant: string) => Promise<void>
  readonly logger: Logger
}

interface Entry<T> {
  readonly term: number
  opening: Promise<T>
  opened?: T
}

const MAX_NAMED = 10
const AT_ONCE = 8

export class OpenTenants<T> {
  readonly #options: OpenTenantsOptions<T>
  readonly #entries = new Map<string, Entry<T>>()
  readonly #closing = new Set<Promise<void>>()
  #isComplete = true
  #isFinding = false
  readonly #dropped: string[] = []
  #completing: Promise<void> = Promise.resolve()

  constructor(options: OpenTenantsOptions<T>) {
    this.#options = options
  }

  /** Returns the open instance, even while it is being given away, for callers that already hold it. */
  current(tenant: string): T | undefined {
    return this.#entries.get(tenant)?.opened
  }

  /** Returns the open instance of a tenant owned here; undefined: use `opened`. */
  get(tenant: string): T | undefined {
    const entry = this.#entries.get(tenant)
    if (entry?.opened === undefined) return undefined
    const location = this.#options.locate(tenant)
    return location.kind === 'here' && location.term === entry.term ? entry.opened : undefined
  }

  /** Returns the instance, opened if needed. Rejects with `FENCED` when another host owns the tenant. */
  opened(tenant: string): Promise<T> {
    const location = this.#options.locate(tenant)
    if (location.kind !== 'here') return Promise.reject(notHere(tenant))
    const known = this.#entries.get(tenant)
    if (known?.term === location.term) return known.opening
    if (known !== undefined) this.#drop(tenant, known)
    return this.#open(tenant, location.term)
  }

  *all(): Iterable<T> {
    for (const { opened } of this.#entries.values()) if (opened !== undefined) yield opened
  }

  get size(): number {
    return this.#entries.size
  }

  get isComplete(): boolean {
    return this.#isComplete && !this.#isFinding
  }

  has(tenant: string): boolean {
    return this.#entries.has(tenant)
  }

  /** Must be called after new slots were gained: opens their tenants. Returns at once; `complete` retries failures. */
  gained(): void {
    this.#isComplete = false
    void this.complete()
  }

  /** Opens missing tenants. Never rejects. */
  complete(): Promise<void> {
    this.#logDropped()
    this.#completing = this.#completing.then(() => (this.#isComplete ? undefined : this.#complete()))
    return this.#completing
  }

  /** Must be called when other hosts own the slots: drops their tenants. */
  lost(slots: readonly number[]): void {
    const gone = new Set(slots)
    for (const [tenant, entry] of this.#entries) if (gone.has(slotOf(tenant))) this.#drop(tenant, entry)
  }

  incomplete(): void {
    this.#isComplete = false
  }

  /** Closes the tenants of a slot, which must not be requested meanwhile. Never rejects. */
  async release(slot: number): Promise<void> {
    const open = [...this.#entries].filter(([tenant]) => slotOf(tenant) === slot)
    await Promise.all(
      open.map(async ([tenant, entry]) => {
        await entry.opening.catch(() => undefined)
        if (this.#entries.get(tenant) !== entry) return
        if (entry.opened !== undefined) await this.#close(tenant, entry.opened)
        if (this.#entries.get(tenant) === entry) this.#entries.delete(tenant)
      }),
    )
  }

  /** Closes all tenants. Never rejects. */
  async close(): Promise<void> {
    const slots = new Set([...this.#entries.keys()].map(slotOf))
    await Promise.all([...slots].map((slot) => this.release(slot)))
    await Promise.all(this.#closing)
    this.#logDropped()
  }

  #open(tenant: string, term: number): Promise<T> {
    const entry: Entry<T> = { term, opening: Promise.reject(notHere(tenant)) }
    entry.opening.catch(() => undefined)
    this.#entries.set(tenant, entry)
    entry.opening = this.#make(tenant, entry)
    entry.opening.catch(() => {
      if (this.#entries.get(tenant) === entry) this.#entries.delete(tenant)
    })
    return entry.opening
  }

  async #make(tenant: string, entry: Entry<T>): Promise<T> {
    const opened = await this.#options.open(tenant, entry.term, () => this.#lost(tenant, entry))
    if (this.#entries.get(tenant) === entry) return (entry.opened = opened)
    void this.#close(tenant, opened)
    throw notHere(tenant)
  }

  /** Drops an instance that lost its fence or is outdated; this host may own the tenant again at once. */
  #lost(tenant: string, entry: Entry<T>): void {
    this.#drop(tenant, entry)
    this.#isComplete = false
  }

  #drop(tenant: string, entry: Entry<T>): void {
    if (this.#entries.get(tenant) !== entry) return
    this.#entries.delete(tenant)
    this.#dropped.push(tenant)
    if (entry.opened !== undefined) void this.#close(tenant, entry.opened)
  }

  #logDropped(): void {
    const names = [...new Set(this.#dropped.splice(0))]
    if (names.length === 0) return
    const [listed, left] = [names.slice(0, MAX_NAMED).join(', '), names.length - MAX_NAMED]
    const more = left > 0 ? ` and ${left} more` : ''
    this.#options.logger.warn(`another host took over ${listed}${more}; this host dropped its state of these tenants`)
  }

  #close(tenant: string, opened: T): Promise<void> {
    const closing = this.#options.close(opened, tenant).catch((error: unknown) => {
      // another host took the tenant over, and finishes the work in flight
      if (error instanceof AppError && error.code === 'FENCED') return
      this.#options.logger.warn(`tenant ${tenant} was not closed cleanly: ${messageOf(error)}`)
    })
    this.#closing.add(closing)
    void closing.then(() => this.#closing.delete(closing))
    return closing
  }

  async #complete(): Promise<void> {
    const { tenants, locate, logger } = this.#options
    this.#isComplete = true
    this.#isFinding = true
    try {
      // names of the host's own tenants begin with `_`
      const here = (await tenants()).filter((tenant) => !tenant.startsWith('_') && locate(tenant).kind === 'here')
      const openNext = async (): Promise<void> => {
        for (let tenant = here.pop(); tenant !== undefined; tenant = here.pop()) {
          await this.opened(tenant).catch((error: unknown) => {
            this.#isComplete = false
            logger.warn(`tenant ${tenant} could not be opened: ${messageOf(error)}; retrying`)
          })
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, openNext))
    } catch (error) {
      this.#isComplete = false
      logger.warn(`tenants could not be read: ${messageOf(error)}; retrying`)
    } finally {
      this.#isFinding = false
    }
  }
}

function notHere(tenant: string): AppError {
  return new AppError('FENCED', `tenant ${tenant} is not on this host at the moment; retry in a second`)
}
