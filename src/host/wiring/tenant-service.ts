/** What a tenant has of a service, and what that is made of. */
import type { Storage } from '#storage'
import type { HostedPartition } from '../cluster/partition-questions.ts'
import type { ServiceRegistry } from './service-registry.ts'

export interface TenantParts {
  readonly storage: Storage
  /** a folder, where the host has one */
  readonly data: string
  /** which of several partitions of the tenant it is; absent: it has one */
  readonly partition?: HostedPartition
  /** where the services of the tenant find each other; whoever makes one puts it in */
  readonly registry: ServiceRegistry
}

export interface TenantService {
  /** why it is not as well as it should be, for /health; undefined: it is */
  readonly trouble?: () => string | undefined
  /** what somebody should mend though the host is well, for /health: a sentence each */
  readonly warnings?: () => readonly string[]
  /** Before the first request. The signal aborts when answers that never end must end. */
  start?(closing: AbortSignal): Promise<void>
  /** After the last answer: finish, flush, let go. Called once, even when `start` failed or never came. */
  stop?(): void | Promise<void>
}
