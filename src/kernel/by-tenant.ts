/** What each tenant of a store has of its own, made when it is first asked for. */
export class ByTenant<T> {
  readonly #store: { tenants(): Promise<readonly string[]> }
  readonly #make: (tenant: string) => T
  readonly #made = new Map<string, T>()

  constructor(store: { tenants(): Promise<readonly string[]> }, make: (tenant: string) => T) {
    this.#store = store
    this.#make = make
  }

  /** Made once: who asks again gets the same. */
  of(tenant: string): T {
    const known = this.#made.get(tenant)
    if (known !== undefined) return known
    const made = this.#make(tenant)
    this.#made.set(tenant, made)
    return made
  }

  /** names of all that the store has */
  tenants(): Promise<readonly string[]> {
    return this.#store.tenants()
  }
}
