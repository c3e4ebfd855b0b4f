import type { BlobMedium } from '../../../src/storage/blob-medium.ts'
import type { BlobInfo, Blobs } from '../../../src/storage/blobs.ts'

/** Remembers which tenants stored objects, and nothing else, since these tests are not about objects. */
export function noBlobs(): BlobMedium & { readonly closed: () => number } {
  const tenants = new Set<string>()
  let closed = 0
  return {
    tenant: (id): Blobs => ({
      put: async (path): Promise<BlobInfo> => {
        tenants.add(id)
        return { path, size: 0, etag: '', contentType: '', modified: 0, metadata: {} }
      },
      info: async () => undefined,
      get: async () => undefined,
      list: async () => [],
      copy: async () => false,
      delete: async () => false,
    }),
    tenants: async () => [...tenants].sort(),
    close: async () => {
      closed += 1
    },
    closed: () => closed,
  }
}
