/**
 * Opens the tenants of a single host: stored tenants at the start, others on their first request. Tenants stay open
 * until the host stops.
 *
 * HOSTTENANTS-1 the services of a tenant can access only that tenant's store
 * HOSTTENANTS-2 a name without credentials opens no tenant
 * HOSTTENANTS-3 requests for a tenant that cannot be opened get 503 until a retry succeeds; other tenants are
 *   unaffected
 */
import type { FastifyInstance, HookHandlerDoneFunction } from 'fastify'
import { OpenTenants, type TenantLocation } from '#cluster'
import { AppError, type Logger, messageOf } from '#kernel'
import type { Storage } from '#storage'
import type { HostedService } from './hosted-service.ts'
import type { TenantFigures } from './tenant-figures.ts'
import { TenantServices } from './tenant-services.ts'
import type { Timers } from './timers.ts'
import type { ServiceRegistry, Tenants } from './wiring/service-registry.ts'

export interface HostTenantsOptions {
  readonly storage: Storage
  readonly figures: TenantFigures
  readonly timers: Timers
  readonly logger: Logger
}

/** Interval between attempts to open failed tenants, in ms */
const RETRY_MS = 10_000
const HERE: TenantLocation = { kind: 'here', term: 0 }

export class HostTenants implements Tenants {
  readonly #options: HostTenantsOptions
  readonly #tenants: OpenTenants<TenantServices>
  readonly #failed = new Map<string, string>()
  readonly #unclean: unknown[] = []
  #services: readonly HostedService[] = []
  #closing: AbortSignal | undefined
  #stopRetrying: () => void = () => undefined

  constructor(options: HostTenantsOptions) {
    const { storage, logger } = options
    this.#options = options
    this.#tenants = new OpenTenants({
      tenants: () => storage.tenants(),
      locate: () => HERE,
      open: (tenant) => this.#open(tenant),
      close: (opened) => this.#close(opened),
      logger,
    })
  }

  /** Opens all stored tenants; failed ones are retried. Called once. */
  async start(services: readonly HostedService[], closing: AbortSignal): Promise<void> {
    this.#services = services
    this.#closing = closing
    closing.addEventListener('abort', () => [...this.#tenants.all()].forEach((one) => one.end()), { once: true })
    this.#tenants.incomplete()
    await this.#tenants.complete()
    this.#stopRetrying = this.#options.timers.every(RETRY_MS, () => void this.#tenants.complete())
  }

  /** Closes all tenants. Rejects when data could not be flushed. */
  async close(): Promise<void> {
    this.#stopRetrying()
    await this.#tenants.close()
    const [unclean] = this.#unclean
    if (unclean !== undefined) throw unclean as Error
  }

  addTo(app: FastifyInstance): void {
    app.addHook('onRequest', ({ tenant }, _reply, done) => {
      if (tenant === '' || this.#tenants.current(tenant) !== undefined) return done()
      void this.#letIn(tenant, done)
    })
  }

  async opened(tenant: string): Promise<void> {
    try {
      await this.#tenants.opened(tenant)
    } catch (error) {
      // this error concerns the request, or clients retry it anyway
      if (error instanceof AppError && error.status !== 500) throw error
      throw new AppError('CLOSED', notOpen(tenant), { cause: error })
    }
  }

  of(tenant: string): ServiceRegistry {
    const opened = this.#tenants.current(tenant)
    if (opened === undefined) throw new AppError('CLOSED', notOpen(tenant))
    return opened.registry
  }

  find(tenant: string): ServiceRegistry | undefined {
    return this.#failed.has(tenant) ? this.of(tenant) : this.#tenants.current(tenant)?.registry
  }

  *all(): Iterable<ServiceRegistry> {
    for (const { registry } of this.#tenants.all()) yield registry
  }

  troubles(): readonly string[] {
    const failed = [...this.#failed].map(([tenant, why]) => `tenant ${tenant} could not be opened: ${why}`)
    return [...failed, ...[...this.#tenants.all()].flatMap((one) => one.trouble())]
  }

  warnings(): readonly string[] {
    return [...this.#tenants.all()].flatMap((one) => one.warnings())
  }

  get stopping(): string | undefined {
    for (const { stopping } of this.#tenants.all()) if (stopping !== undefined) return stopping
    return undefined
  }

  async #letIn(tenant: string, done: HookHandlerDoneFunction): Promise<void> {
    try {
      await this.opened(tenant)
    } catch (error) {
      return done(error as Error)
    }
    done()
  }

  async #open(tenant: string): Promise<TenantServices> {
    if (this.#closing?.aborted !== false) throw new AppError('CLOSED', 'The host is stopping; try again in a moment')
    const { storage, figures, timers, logger } = this.#options
    try {
      const opened = await TenantServices.open({ services: this.#services, storage, tenant, figures, timers, logger })
      // the host began to stop meanwhile
      if (this.#closing.aborted) opened.end()
      this.#failed.delete(tenant)
      return opened
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'VALIDATION') this.#failed.set(tenant, messageOf(error))
      throw error
    }
  }

  async #close(opened: TenantServices): Promise<void> {
    try {
      await opened.close()
    } catch (error) {
      this.#unclean.push(error)
      throw error
    }
  }
}

function notOpen(tenant: string): string {
  return `the services of tenant ${tenant} could not be started; try again in a moment`
}
