/** What tenants have of a service, and what that is made of. */
import type { Storage, Store } from '#storage'
import type { HostedPartition } from '../cluster/partition-questions.ts'
import type { ServiceRegistry } from './service-registry.ts'

/** What a service of one tenant is made of. */
export interface TenantDependencies {
  readonly tenant: string
  readonly store: Store
  /** what the tenant has of all services; asked when it is needed */
  readonly services: () => ServiceRegistry
}

/** What a service of all tenants of a host that is alone is made of; a host of a cluster makes one for each tenant. */
export interface SharedDependencies {
  readonly storage: Storage
  /** a folder, where the host has one */
  readonly data: string
  /** which of several partitions of the tenant it is; absent: it has one */
  readonly partition?: HostedPartition
  /** where its neighbours find it: it puts itself in */
  readonly registry: ServiceRegistry
  /** what a tenant has of all services; asked when it is needed */
  readonly of: (tenant: string) => ServiceRegistry
}

/** The life of such a service. */
export interface SharedService {
  /** why it is degraded, for /health; undefined: it is not */
  readonly trouble?: () => string | undefined
  /** what the operator should fix although the host works, for /health: a sentence each */
  readonly warnings?: () => readonly string[]
  /** Before the first request. The signal aborts when answers that never end must end. */
  start?(closing: AbortSignal): Promise<void>
  /** After the last answer: drain, flush, release. Called once, even when `start` failed or never came. */
  stop?(): void | Promise<void>
}
