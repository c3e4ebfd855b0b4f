/** Storage of one tenant, for services that list tenants. */
import { AppError } from '#kernel'
import type { Storage, Store } from '#storage'

export function storageOfOne(tenant: string, store: Store): Storage {
  return {
    tenant(id) {
      if (id === tenant) return store
      throw new AppError('FENCED', `the services of tenant ${tenant} have no store of tenant ${id}`)
    },
    tenants: () => Promise.resolve([tenant]),
    close: () => Promise.resolve(),
    stats: () => ({ queued: 0, commits: 0, lastCommitMs: 0 }),
  }
}
