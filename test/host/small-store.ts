/** A store in memory with only what the host itself needs. */
import type { Storage, Stored } from '../../src/storage/contract.ts'

export interface SmallStore extends Storage {
  closed: boolean
  /** Makes reads of documents fail */
  broken: boolean
  /** Makes all writes fail */
  full: boolean
}

export function smallStore(): SmallStore {
  const shelves = new Map<string, Map<string, Stored<object>>>()
  const shelf = (name: string) => {
    const found = shelves.get(name) ?? new Map<string, Stored<object>>()
    shelves.set(name, found)
    return found
  }
  const store = {
    closed: false,
    broken: false,
    full: false,
    tenant: (tenant: string) => ({
      collection(spec: { name: string }) {
        const documents = shelf(`${tenant} ${spec.name}`)
        return {
          async get(id: string) {
            if (store.broken) throw new Error('the disk is gone')
            return documents.get(id)
          },
          ids: async ({ where = [] }: { where?: readonly { field: string; value: string }[] }) =>
            [...documents.values()]
              .filter(({ value }) => where.every((one) => (value as Record<string, unknown>)[one.field] === one.value))
              .map(({ id }) => id),
          async put(id: string, value: object) {
            if (store.full) throw new Error('database or disk is full')
            const version = (documents.get(id)?.version ?? 0) + 1
            documents.set(id, { id, version, value })
            return version
          },
          delete: async (id: string) => documents.delete(id),
        }
      },
    }),
    tenants: async () => [],
    async close() {
      store.closed = true
    },
    stats: () => ({ queued: 3, commits: 7, lastCommitMs: 2 }),
  }
  return store as unknown as SmallStore
}
