/** Defines the service of one tenant and its dependencies. */
import type { Store } from '#storage'
import type { ServiceRegistry } from './service-registry.ts'

export interface TenantDependencies {
  readonly tenant: string
  readonly store: Store
  /** The tenant's other services; read them when needed, since services may be added later */
  readonly services: ServiceRegistry
}

export interface TenantService {
  readonly provides: ServiceRegistry
  /** Absent: the service works at once and has nothing to flush */
  readonly life?: TenantLife
}

export interface TenantLife {
  readonly trouble?: () => string | undefined
  readonly warnings?: () => readonly string[]
  /** Called before the first request. The signal aborts when endless responses must end. */
  start?(closing: AbortSignal): Promise<void>
  /** Drains, flushes and releases after the last response. Called once, even after a failed start. */
  stop?(): void | Promise<void>
}
