/** What a tenant has of a service, and what that is made of. */
import type { Store } from '#storage'
import type { HostedPartition } from '../cluster/partition-questions.ts'
import type { ServiceRegistry } from './service-registry.ts'

/** What a service of one tenant is made of. */
export interface TenantDependencies {
  readonly tenant: string
  readonly store: Store
  /** what the tenant has of all services; its neighbours are in there when they are needed, not before */
  readonly services: ServiceRegistry
  /** which of several partitions of the tenant it is; absent: the tenant has one */
  readonly partition?: HostedPartition
}

/** What a tenant has of a service. Nothing of it works before its start. */
export interface TenantService {
  /** where its neighbours find it */
  readonly provides: ServiceRegistry
  /** absent: it works at once, and keeps nothing that has to be flushed */
  readonly life?: TenantLife
}

export interface TenantLife {
  /** why it is degraded, for /health; undefined: it is not */
  readonly trouble?: () => string | undefined
  /** what the operator should fix although the host works, for /health: a sentence each */
  readonly warnings?: () => readonly string[]
  /** Before the first request. The signal aborts when answers that never end must end. */
  start?(closing: AbortSignal): Promise<void>
  /** After the last answer: drain, flush, release. Called once, even when `start` failed or never came. */
  stop?(): void | Promise<void>
}
