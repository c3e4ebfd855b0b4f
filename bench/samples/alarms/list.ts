/** Pages of the open alarms of one source among a million alarms, with the total. */
import { performance } from 'node:perf_hooks'
import { openCollections } from '../../../src/services/alarms/collections.ts'
import { openService, recordOf, TENANT } from './service.ts'
import { sampleOf, type AlarmsSample } from './subject.ts'

const ALARMS = 1_000_000
const SOURCES = 2_000
const AT_ONCE = 5_000
const PAGES = 2_000
/** Every so many is open. */
const OPEN = 10

export async function listSample(folder: string): Promise<AlarmsSample> {
  const { service, storage } = await openService(folder)
  const books = openCollections(storage, TENANT)
  for (let from = 0; from < ALARMS; from += AT_ONCE) {
    const alarms = Array.from({ length: AT_ONCE }, (_, i) => {
      const n = from + i
      const source = `boiler-${n % SOURCES}`
      const isOpen = Math.floor(n / SOURCES) % OPEN === 0
      return recordOf(n, source, { id: orderedId(n), status: isOpen ? 'ACTIVE' : 'CLEARED' })
    })
    await books.commit(alarms.map((alarm) => books.alarms.putting(alarm.id, alarm)))
  }
  const api = service.as({ tenant: TENANT, user: 'bench' })
  const times: number[] = []
  const ask = async (n: number): Promise<void> => {
    // another source each time, so that no total is remembered
    const { total, alarms } = await api.list({
      source: `boiler-${(n * 7) % SOURCES}`,
      status: n % 2 === 0 ? 'ACTIVE' : 'CLEARED',
    })
    if (total < 50 || alarms.length !== 50) throw new Error(`the page has ${alarms.length} of ${total}`)
  }
  for (let n = 0; n < PAGES / 10; n++) await ask(n + PAGES)
  const start = performance.now()
  for (let n = 0; n < PAGES; n++) {
    const before = performance.now()
    await ask(n)
    times.push(performance.now() - before)
  }
  const sample = sampleOf(times, performance.now() - start)
  await service.stop()
  await storage.close()
  return sample
}

/** Ids in order are written faster; pages are of sources, which lie across them all. */
function orderedId(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}
