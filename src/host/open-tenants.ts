/** The tenants of a single host: shared services from the start, services of one tenant on first use. */
import type { Storage } from '#storage'
import type { HostedService } from './hosted-service.ts'
import type { TenantFigures } from './tenant-figures.ts'
import { type OpenedService, openOwn, openShared } from './wiring/make-services.ts'
import type { ServiceRegistry, Tenants } from './wiring/service-registry.ts'

export interface OpenTenantsOptions {
  readonly storage: Storage
  readonly figures: TenantFigures
  /** the folder of the host, where it has one */
  readonly data: string
}

export class OpenTenants implements Tenants {
  readonly #options: OpenTenantsOptions
  readonly #shared: ServiceRegistry = {}
  readonly #open = new Map<string, ServiceRegistry>()
  #services: readonly HostedService[] = []

  constructor(options: OpenTenantsOptions) {
    this.#options = options
  }

  /** The shared services, to be started. Called once, before `of`. */
  open(services: readonly HostedService[]): readonly OpenedService[] {
    const { storage, data, figures } = this.#options
    this.#services = services
    figures.began(this.#shared)
    return openShared(services, { storage, data, registry: this.#shared, of: (tenant) => this.of(tenant) })
  }

  of(tenant: string): ServiceRegistry {
    const known = this.#open.get(tenant)
    if (known !== undefined) return known
    const { storage, figures } = this.#options
    const own = openOwn(this.#services, { tenant, store: storage.tenant(tenant), services: () => all })
    const all = { ...this.#shared, ...own }
    figures.began(own)
    this.#open.set(tenant, all)
    return all
  }

  /** Of a tenant that was never opened: the shared services. */
  find(tenant: string): ServiceRegistry {
    return this.#open.get(tenant) ?? this.#shared
  }

  all(): Iterable<ServiceRegistry> {
    return [this.#shared]
  }
}
