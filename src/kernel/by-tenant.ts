/** One value per tenant, created on first use. */

export function perTenant<T>(make: (tenant: string) => T): (tenant: string) => T {
  const made = new Map<string, T>()
  return (tenant) => {
    const known = made.get(tenant)
    if (known !== undefined) return known
    const value = make(tenant)
    made.set(tenant, value)
    return value
  }
}

/** The same for the tenants of a store. */
export class ByTenant<T> {
  readonly of: (tenant: string) => T
  readonly #store: { tenants(): Promise<readonly string[]> }

  constructor(store: { tenants(): Promise<readonly string[]> }, make: (tenant: string) => T) {
    this.of = perTenant(make)
    this.#store = store
  }

  tenants(): Promise<readonly string[]> {
    return this.#store.tenants()
  }
}
