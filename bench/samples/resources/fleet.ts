/** A hundred thousand resources of twenty types over Belgium, on SQLite, as the host makes the service. */
import { randomUUID } from 'node:crypto'
import type { ResourcesApi, ResourcesService } from '../../../src/services/resources/contract.ts'
import { createResourcesService } from '../../../src/services/resources/service.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'

export const TENANT = 'bench'
export const RESOURCES = 100_000
export const TYPES = 20
const AT_ONCE = 500

export interface Fleet {
  readonly api: ResourcesApi
  readonly storage: Storage
  close(): Promise<void>
}

export async function openFleet(folder: string): Promise<Fleet> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const service: ResourcesService = createResourcesService({ storage, now: Date.now, newId: () => randomUUID() })
  await service.start()
  const api = service.as({ tenant: TENANT, user: 'bench' })
  for (let n = 0; n < TYPES; n++) await api.types.create(typeOf(n))
  for (let from = 0; from < RESOURCES; from += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => api.resources.create(resourceOf(from + i))))
  }
  return {
    api,
    storage,
    close: async () => {
      await service.stop()
      await storage.close()
    },
  }
}

function typeOf(n: number) {
  return {
    id: `type-${n}`,
    name: `Type ${n}`,
    provider: `provider-${n % 3}`,
    firmware: '1.0.0',
    metrics: [{ name: 'temperature' }, { name: 'level', unit: 'm' }],
  }
}

function resourceOf(n: number) {
  return {
    id: `resource-${n}`,
    alias: `pump ${n}`,
    resourceTypeId: `type-${n % TYPES}`,
    tags: [`group-${n % 50}`, `site-${Math.floor(n / TYPES) % 10}`],
    customer: `customer-${n % 100}`,
    location: placeOf(n),
    serial: n,
    note: 'as many words as somebody writes about a pump that has stood in its hall for years and never failed',
  }
}

/** Spread evenly, in no order. */
export function placeOf(n: number): { readonly lat: number; readonly lon: number } {
  return { lat: 49.5 + ((n * 0.618_033_988_75) % 1) * 2, lon: 2.5 + ((n * 0.754_877_666_25) % 1) * 4 }
}
