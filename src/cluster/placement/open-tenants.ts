/**
 * What this host has open of its tenants: opened when it takes over their slots or when somebody asks for them, closed
 * when a slot is given away, and dropped when another host has it. What is opened is up to whoever makes this.
 *
 * OPENTENANTS-1 of one tenant one thing is open at a time for each term, and what others took over is given to nobody
 */
import { AppError, type Logger, messageOf } from '#kernel'
import type { Place } from './placement.ts'
import { slotOf } from './slots.ts'

export interface OpenTenantsOptions<T> {
  /** all of the store, whoever has them */
  readonly tenants: () => Promise<readonly string[]>
  readonly place: (tenant: string) => Place
  /** Takes the fence of the tenant for the term, and only then reads. `lost` is to be called when it was taken by another. */
  readonly open: (tenant: string, term: number, lost: () => void) => Promise<T>
  /** Finishes what is under way as far as it can be, and lets go. */
  readonly close: (opened: T, tenant: string) => Promise<void>
  readonly logger: Logger
}

interface Entry<T> {
  readonly term: number
  opening: Promise<T>
  opened?: T
}

/** tenants that one line names */
const MAX_NAMED = 10
/** tenants that are opened at once */
const AT_ONCE = 8

export class OpenTenants<T> {
  readonly #options: OpenTenantsOptions<T>
  readonly #entries = new Map<string, Entry<T>>()
  readonly #closing = new Set<Promise<void>>()
  #isComplete = true
  #isFinding = false
  /** names of what was dropped and is not in the log yet */
  readonly #dropped: string[] = []
  #completing: Promise<void> = Promise.resolve()

  constructor(options: OpenTenantsOptions<T>) {
    this.#options = options
  }

  /** What is open of a tenant, also while it is given away: for whoever was given it before. */
  current(tenant: string): T | undefined {
    return this.#entries.get(tenant)?.opened
  }

  /** What is open of a tenant that is here; undefined: ask `opened`. */
  get(tenant: string): T | undefined {
    const entry = this.#entries.get(tenant)
    if (entry?.opened === undefined) return undefined
    const place = this.#options.place(tenant)
    return place.kind === 'here' && place.term === entry.term ? entry.opened : undefined
  }

  /** The same, opened now when it is not yet. `FENCED` when the tenant is not here. */
  opened(tenant: string): Promise<T> {
    const place = this.#options.place(tenant)
    if (place.kind !== 'here') return Promise.reject(notHere(tenant))
    const known = this.#entries.get(tenant)
    if (known?.term === place.term) return known.opening
    if (known !== undefined) this.#drop(tenant, known)
    return this.#open(tenant, place.term)
  }

  /** Everything that is open. */
  *all(): Iterable<T> {
    for (const { opened } of this.#entries.values()) if (opened !== undefined) yield opened
  }

  get size(): number {
    return this.#entries.size
  }

  /** Whether all that is here was found and opened. */
  get isComplete(): boolean {
    return this.#isComplete && !this.#isFinding
  }

  /** Whether it is open, or being opened. */
  has(tenant: string): boolean {
    return this.#entries.has(tenant)
  }

  /** Slots came: their tenants go on here. Never waits; what could not be opened is tried again by `complete`. */
  gained(): void {
    this.#isComplete = false
    void this.complete()
  }

  /** Opens what is here and not open yet, if there may be such. Never rejects. */
  complete(): Promise<void> {
    this.#logDropped()
    this.#completing = this.#completing.then(() => (this.#isComplete ? undefined : this.#complete()))
    return this.#completing
  }

  /** Another has the slots. */
  lost(slots: readonly number[]): void {
    const gone = new Set(slots)
    for (const [tenant, entry] of this.#entries) if (gone.has(slotOf(tenant))) this.#drop(tenant, entry)
  }

  /** Drops what is open and not right any more; it is opened again by `complete`, where it is here. */
  renew(isRight: (opened: T, tenant: string) => boolean): void {
    for (const [tenant, entry] of this.#entries) {
      if (entry.opened !== undefined && !isRight(entry.opened, tenant)) this.#lost(tenant, entry)
    }
  }

  /** There may be tenants that are not open yet. */
  incomplete(): void {
    this.#isComplete = false
  }

  /** Closes what is open of the slot; nobody may ask for it meanwhile. Never rejects. */
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

  /** Closes everything. Never rejects. */
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

  /** Somebody else has written to it; it may be this host's again at once. */
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

  /** One line for all that another host took over since the last one. */
  #logDropped(): void {
    const names = [...new Set(this.#dropped.splice(0))]
    if (names.length === 0) return
    const [whose, left] = [names.slice(0, MAX_NAMED).join(', '), names.length - MAX_NAMED]
    const more = left > 0 ? ` and ${left} more` : ''
    this.#options.logger.warn(`another host has ${whose}${more}: what this one had open of these tenants is dropped`)
  }

  #close(tenant: string, opened: T): Promise<void> {
    const closing = this.#options.close(opened, tenant).catch((error: unknown) => {
      // another host took the tenant over and finishes the work in flight
      if (error instanceof AppError && error.code === 'FENCED') return
      this.#options.logger.warn(`tenant ${tenant} was not closed cleanly: ${messageOf(error)}`)
    })
    this.#closing.add(closing)
    void closing.then(() => this.#closing.delete(closing))
    return closing
  }

  async #complete(): Promise<void> {
    const { tenants, place, logger } = this.#options
    this.#isComplete = true
    this.#isFinding = true
    try {
      // names of what is the host's own begin with _
      const here = (await tenants()).filter((tenant) => !tenant.startsWith('_') && place(tenant).kind === 'here')
      const openNext = async (): Promise<void> => {
        for (let tenant = here.pop(); tenant !== undefined; tenant = here.pop()) {
          await this.opened(tenant).catch((error: unknown) => {
            this.#isComplete = false
            logger.warn(`tenant ${tenant} could not be opened: ${messageOf(error)}; it is tried again`)
          })
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, openNext))
    } catch (error) {
      this.#isComplete = false
      logger.warn(`tenants could not be read: ${messageOf(error)}; they are later`)
    } finally {
      this.#isFinding = false
    }
  }
}

function notHere(tenant: string): AppError {
  return new AppError('FENCED', `tenant ${tenant} is at no host at the moment, or at another; ask again in a second`)
}
