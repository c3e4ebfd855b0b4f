/**
 * The process that test/storage/sqlite/crash.test.ts kills. Until then it writes numbered units of work, several at a
 * time, and prints `commit n` or `series n` when that was acknowledged.
 *
 * Unit n appends n to a log, where it must have position n; puts n into `left` and `right`; puts and deletes others by
 * fixed rules; and finally appends a sample and a message that apply position n.
 */
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { applyUnit, seriesBatch, UNITS, unitWrites } from './crash-units.ts'

const [folder = '', foldAt = '', inFlight = ''] = process.argv.slice(2)
const storage = await openSqlite({ folder, blobs: openMemoryBlobs(), foldAt: Number(foldAt), chunk: 16 })
const store = storage.tenant('acme')
const log = store.log('inputs')

const { last } = await log.bounds()
for (let n = (await store.series.applied('inputs')) + 1; n <= last; n += 1) await applyUnit(store, n)

let next = last + 1
const writer = async (): Promise<void> => {
  for (;;) {
    const n = next
    next += 1
    await store.commit(unitWrites(store.collection(UNITS), log, n))
    process.stdout.write(`commit ${n}\n`)
    await store.series.append(seriesBatch(n))
    process.stdout.write(`series ${n}\n`)
  }
}
await Promise.all(Array.from({ length: Number(inFlight) }, writer))
