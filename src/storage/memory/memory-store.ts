/** Implements the store of one tenant in memory. */
import { type Access, checkedCollection, checkedLog, checkedSeries } from '../checked-store.ts'
import { type Conflict, conflictError, isExpected } from '../conflicts.ts'
import type {
  Blobs,
  Collection,
  CollectionSpec,
  Committed,
  Document,
  Log,
  Series,
  Store,
  StoreTime,
  Write,
} from '../contract.ts'
import { type PreparedWrite, prepareWrites } from '../prepare-writes.ts'
import { columnsOf } from '../sample-columns.ts'
import type { KnownSpec, Specs } from '../spec.ts'
import type { MemoryDisk, MemoryLogs, MemoryTable, TenantData } from './memory-disk.ts'
import { storedOf } from './row.ts'

export interface MemoryHost {
  readonly disk: MemoryDisk
  readonly specs: Specs
  /** epoch ms */
  readonly clock: () => number
  /** id of this opening */
  readonly session: string
  checkOpen(): void
  committed(ms: number): void
}

/** A store whose calls take effect immediately and in order. */
export class MemoryStore implements Store {
  readonly series: Series
  readonly blobs: Blobs
  readonly #access: Access
  readonly #host: MemoryHost
  readonly #data: TenantData

  constructor(host: MemoryHost, tenant: string, blobs: Blobs) {
    this.#host = host
    this.#data = host.disk.tenant(tenant)
    this.blobs = blobs
    this.#access = {
      run: async (work) => {
        host.checkOpen()
        return work()
      },
      commit: (writes) => this.commit(writes),
    }
    const { series } = this.#data
    this.series = checkedSeries(this.#access, host.clock, {
      append: async (batch) => {
        const start = performance.now()
        series.append(batch)
        this.#data.touched = true
        host.committed(performance.now() - start)
      },
      applied: async (log) => series.applied(log),
      range: async (query, now) => series.range(query, now),
      columns: async (query, now) => columnsOf(series.range(query, now)),
      buckets: async (query, now) => series.buckets(query, now),
      latest: async (resource, metric, now) => series.latest(resource, metric, now),
      messages: async (query, now) => series.messages(query, now),
      names: async (query) => series.names(query),
      remove: async (what) => series.remove(what),
      expire: async (now) => series.expire(now),
    })
  }

  collection<D extends Document>(spec: CollectionSpec<D>): Collection<D> {
    this.#host.checkOpen()
    const known = this.#host.specs.know(spec)
    const table = (): MemoryTable => this.#table(known)
    return checkedCollection<D>(spec, known, this.#access, {
      get: async (id) => {
        const row = table().get(id)
        return row && storedOf<D>(row)
      },
      getMany: async (ids) =>
        ids.flatMap((id) => {
          const row = table().get(id)
          return row === undefined ? [] : [storedOf<D>(row)]
        }),
      find: async (query) =>
        table()
          .find(query)
          .map((row) => storedOf<D>(row)),
      ids: async (query) =>
        table()
          .find(query)
          .map(({ id }) => id),
      count: async (where) => table().count(where),
      countBy: async (field, where) => table().countBy(field, where),
    })
  }

  log(name: string): Log {
    const { logs } = this.#data
    return checkedLog(name, this.#access, {
      read: async (after, limit) => logs.read(name, after, limit),
      bounds: async () => logs.bounds(name),
      trim: async (upTo) => logs.trim(name, upTo),
    })
  }

  async commit(writes: readonly Write[]): Promise<Committed> {
    this.#host.checkOpen()
    const start = performance.now()
    const prepared = prepareWrites(writes, this.#host.specs)
    const results = commitInMemory(prepared, (known) => this.#table(known), this.#data.logs)
    if (writes.length > 0) this.#data.touched = true
    this.#host.committed(performance.now() - start)
    return { results }
  }

  async now(): Promise<StoreTime> {
    this.#host.checkOpen()
    return { ms: Math.floor(this.#host.clock()), session: this.#host.session }
  }

  #table(known: KnownSpec): MemoryTable {
    return this.#host.disk.table(this.#data, known)
  }
}

interface Draft {
  there: boolean
  /** highest version that the id has had so far */
  version: number
}

/** Commits units of work in memory: evaluated as a whole, then applied, so nothing is ever undone (STORE-1). */
function commitInMemory(
  writes: readonly PreparedWrite[],
  tableOf: (known: KnownSpec) => MemoryTable,
  logs: MemoryLogs,
): readonly number[] {
  const drafts = new Map<MemoryTable, Map<string, Draft>>()
  const lasts = new Map<string, number>()
  const conflicts: Conflict[] = []
  const results = writes.map((write, index) => {
    if (write.kind === 'append') {
      const last = (lasts.get(write.log) ?? logs.last(write.log)) + write.texts.length
      lasts.set(write.log, last)
      return last
    }
    const draft = draftOf(drafts, tableOf(write.known), write.id)
    if (!isExpected(write.expect, draft.there ? draft.version : undefined)) {
      const actual = draft.there ? draft.version : 'absent'
      conflicts.push({ index, collection: write.known.name, id: write.id, expected: write.expect, actual })
      return 0
    }
    if (write.kind === 'put') {
      draft.there = true
      draft.version += 1
      return draft.version
    }
    if (write.kind === 'expect') return draft.version
    const found = draft.there
    draft.there = false
    return Number(found)
  })
  if (conflicts.length > 0) throw conflictError(conflicts)
  for (const [index, write] of writes.entries()) {
    if (write.kind === 'append') logs.append(write.log, write.texts)
    else if (write.kind === 'delete') tableOf(write.known).delete(write.id)
    else if (write.kind === 'put') tableOf(write.known).put(write.id, results[index] ?? 0, write.text, write.fields)
  }
  return results
}

function draftOf(drafts: Map<MemoryTable, Map<string, Draft>>, table: MemoryTable, id: string): Draft {
  let ofTable = drafts.get(table)
  if (ofTable === undefined) {
    ofTable = new Map()
    drafts.set(table, ofTable)
  }
  let draft = ofTable.get(id)
  if (draft === undefined) {
    draft = { there: table.get(id) !== undefined, version: table.lastVersion(id) }
    ofTable.set(id, draft)
  }
  return draft
}
