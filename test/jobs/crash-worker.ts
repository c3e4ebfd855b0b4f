/**
 * Process that test/jobs/crash.test.ts kills: it runs one job over numbered items, and appends each finished item to a
 * file with the number of its life. It prints `done n` when n items are committed, and exits after the last one.
 */
import { appendFileSync } from 'node:fs'
import { itemHandler } from '../../src/jobs/item-handler.ts'
import { JobRunner } from '../../src/jobs/job-runner.ts'
import { machineTimers } from '../../src/platform/timers.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'

const [folder = '', file = '', life = '', count = ''] = process.argv.slice(2)
const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
const runner = new JobRunner({
  tenant: 'acme',
  store: storage.tenant('acme'),
  handlers: [
    itemHandler<string>({
      type: 'work',
      batchSize: 10,
      slice: 3,
      item: async (id, _context, isRepeat) => {
        appendFileSync(file, `${life} ${id} ${isRepeat}\n`)
        return { statusCode: 200 }
      },
    }),
  ],
  now: Date.now,
  newId: () => 'job',
  timers: machineTimers,
})
const { queue } = runner
const ending = new AbortController()
const events = queue.events({ after: 0, signal: ending.signal })
await runner.start()
if ((await queue.get('job')) === undefined) {
  await queue.add({ type: 'work', items: Array.from({ length: Number(count) }, (_, i) => String(i)) })
}
for await (const { event, progress } of events) {
  if (progress !== undefined) process.stdout.write(`done ${progress.done}\n`)
  if (event === 'completed') ending.abort()
}
await runner.stop()
await storage.close()
