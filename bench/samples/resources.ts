/** Sample of the resources service on SQLite: pages of a hundred thousand resources of twenty types. */
import { randomUUID } from 'node:crypto'
import { Resources } from '../../src/services/resources/service.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { drive, lanes, sampleOf, type CallsSample } from './calls.ts'
import { withFolder } from './host/folder.ts'

const TYPES = 20
const AT_ONCE = 500
const PAGES = 1_000

export function resourcesSample({ count }: { count: number }): Promise<CallsSample> {
  return withFolder(async (folder) => {
    const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
    const service = new Resources({
      tenant: 'bench',
      store: storage.tenant('bench'),
      now: Date.now,
      newId: () => randomUUID(),
    })
    await service.start()
    const api = service.as({ tenant: 'bench', user: 'bench' })
    for (let n = 0; n < TYPES; n++) await api.types.create(typeOf(n))
    for (let from = 0; from < count; from += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => api.resources.create(resourceOf(from + i))))
    }
    await service.idle()
    const list = async (_lane: unknown, n: number): Promise<void> => {
      const query = { resourceTypeId: `type-${n % TYPES}`, tag: `site-${n % 10}`, filter: 'pump', limit: 100 }
      const { values, total } = await api.resources.list(query)
      if (values.length !== 100) throw new Error(`the page has ${values.length} of ${total}`)
    }
    await drive(lanes(1), (n) => n < PAGES / 10, list)
    const sample = sampleOf(await drive(lanes(1), (n) => n < PAGES, list))
    await service.stop()
    await storage.close()
    return sample
  })
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

/** Spread evenly over Belgium, unordered. */
function resourceOf(n: number) {
  return {
    id: `resource-${n}`,
    alias: `pump ${n}`,
    resourceTypeId: `type-${n % TYPES}`,
    tags: [`group-${n % 50}`, `site-${Math.floor(n / TYPES) % 10}`],
    customer: `customer-${n % 100}`,
    location: { lat: 49.5 + ((n * 0.618_033_988_75) % 1) * 2, lon: 2.5 + ((n * 0.754_877_666_25) % 1) * 4 },
    serial: n,
    note: 'as many words as an operator writes about a pump that has stood in its hall for years and never failed',
  }
}
