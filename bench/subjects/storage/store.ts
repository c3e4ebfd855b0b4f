/** Storage on SQLite as a service uses it. */
import type { Collection, CollectionSpec, Store } from '../../../src/storage/contract.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { DOCUMENTS, documentOf, HOUR, idOf, KNOWN, SERIES_START, WINDOW, type Task } from './workload.ts'
import type { StorageSubject, Subject } from './subject.ts'

const TASKS: CollectionSpec<Task> = {
  name: 'tasks',
  version: 1,
  fields: {
    status: { type: 'text', of: (task) => task.status },
    template: { type: 'text', of: (task) => task.template },
    name: { type: 'text', of: (task) => task.name },
    tags: { type: 'texts', of: (task) => task.tags },
    created: { type: 'number', of: (task) => task.created },
  },
}
const FILTERS = [
  { field: 'status', op: 'eq', value: 'running' },
  { field: 'template', op: 'eq', value: 'template-3' },
] as const
const NEWEST = [{ field: 'created', descending: true }] as const

export async function openStore(
  folder: string,
): Promise<{ subjects: Record<StorageSubject, Subject>; close(): Promise<void> }> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const store = storage.tenant('default')
  return { subjects: subjectsOf(store), close: () => storage.close() }
}

function subjectsOf(store: Store): Record<StorageSubject, Subject> {
  const tasks = store.collection(TASKS)
  const log = store.log('inputs')
  const page = () => tasks.find({ where: FILTERS, sort: NEWEST, limit: 100 })
  return {
    create: { things: 1, run: (n) => tasks.put(idOf(n), documentOf(n)) },
    update: {
      things: 1,
      prepare: () => fill(store, tasks, KNOWN),
      run: (n) => tasks.put(idOf(n % KNOWN), documentOf(n % KNOWN)),
    },
    get: {
      things: 1,
      prepare: () => fill(store, tasks, KNOWN),
      run: (n) => tasks.get(idOf((n * 7919) % KNOWN)),
    },
    page: {
      things: 1,
      prepare: () => fill(store, tasks, DOCUMENTS),
      run: () => Promise.all([page(), tasks.count(FILTERS)]),
    },
    pageAfterWrite: {
      things: 1,
      prepare: () => fill(store, tasks, DOCUMENTS),
      async run(n) {
        await tasks.put(idOf(n % DOCUMENTS), { ...documentOf(n), name: `renamed ${n}` })
        return Promise.all([page(), tasks.count(FILTERS)])
      },
    },
    append: { things: 1, run: () => log.append(0, [WINDOW[0] ?? null]) },
    appendWindow: { things: WINDOW.length, run: () => log.append(0, WINDOW) },
    samples1: { things: 1, run: (n) => appendSamples(store, n, 1) },
    samples100: { things: 100, run: (n) => appendSamples(store, n, 100) },
    samples1000: { things: 1_000, run: (n) => appendSamples(store, n, 1_000) },
    hourly: {
      things: 1,
      async prepare() {
        for (let n = 0; n < 100; n += 1) await appendHistory(store, n)
        // Gone cold: what arrived has been folded, as it is some time after.
        await new Promise((resolve) => setTimeout(resolve, 2_000))
      },
      run: () =>
        store.series.buckets({
          resources: ['history'],
          metric: 'm',
          from: SERIES_START,
          until: SERIES_START + 1e9,
          width: HOUR,
        }),
    },
  }
}

async function fill(store: Store, tasks: Collection<Task>, count: number): Promise<void> {
  for (let from = 0; from < count; from += 5_000) {
    await store.commit(Array.from({ length: 5_000 }, (_, i) => tasks.putting(idOf(from + i), documentOf(from + i))))
  }
}

function appendSamples(store: Store, n: number, length: number): Promise<void> {
  const samples = Array.from({ length }, (_, i) => {
    const at = n * length + i
    return { resource: `r${at % 100}`, metric: 'm', time: SERIES_START + at * 10, value: at * 1.5 }
  })
  return store.series.append({ samples })
}

function appendHistory(store: Store, n: number): Promise<void> {
  const samples = Array.from({ length: 10_000 }, (_, i) => {
    const at = n * 10_000 + i
    return { resource: 'history', metric: 'm', time: SERIES_START + at * 1_000, value: at * 1.5 }
  })
  return store.series.append({ samples })
}
