/** Stores objects (blobs) for all tenants; a storage medium that cannot do so itself is opened with a BlobMedium. */
import type { Blobs } from './blobs.ts'

export interface BlobMedium {
  tenant(id: string): Blobs
  tenants(): Promise<readonly string[]>
  /** Waits for calls in flight; later calls are rejected with `CLOSED`. Idempotent. */
  close(): Promise<void>
}
