/**
 * A medium of objects for all tenants. A storage medium without objects of its own receives one when it is opened,
 * closes it with itself, and includes its tenants.
 */
import type { Blobs } from './blobs.ts'

export interface BlobMedium {
  /** `VALIDATION` for an invalid name. */
  tenant(id: string): Blobs
  /** Tenants with objects, by name. */
  tenants(): Promise<readonly string[]>
  /** Waits for calls in flight; later calls are rejected with `CLOSED`. Idempotent. */
  close(): Promise<void>
}
