/**
 * Where the objects of all tenants are kept. A storage medium that keeps none itself is given one when it is opened,
 * closes it when it is closed, and lists its tenants among its own.
 */
import type { Blobs } from './blobs.ts'

export interface BlobMedium {
  /** `VALIDATION` for what is no name of a tenant. */
  tenant(id: string): Blobs
  /** Tenants that have stored an object, by name. */
  tenants(): Promise<readonly string[]>
  /** What runs comes to its end; later calls are refused with `CLOSED`. Safe to call twice. */
  close(): Promise<void>
}
