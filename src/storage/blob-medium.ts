/**
 * Stores objects (blobs) for all tenants. A storage medium that cannot store objects itself is opened with a
 * BlobMedium, closes it along with itself, and lists its tenants too.
 */
import type { Blobs } from './blobs.ts'

export interface BlobMedium {
  /** Returns the objects of a tenant. Throws `VALIDATION` for an invalid name. */
  tenant(id: string): Blobs
  /** Returns the tenants that have objects, by name. */
  tenants(): Promise<readonly string[]>
  /** Waits for calls in flight; later calls are rejected with `CLOSED`. Idempotent. */
  close(): Promise<void>
}
