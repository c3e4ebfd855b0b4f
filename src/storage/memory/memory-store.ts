/** The store of one tenant in memory. */
import { checkLogName, checkLogQuestion } from '../check-log.ts'
import {
  checkApplied,
  checkBuckets,
  checkLatest,
  checkMessages,
  checkNow,
  checkRange,
  checkRemoval,
  prepareBatch,
} from '../check-series.ts'
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
import { prepareWrites } from '../prepare-writes.ts'
import { columnsOf } from '../sample-columns.ts'
import type { KnownSpec, Specs } from '../spec.ts'
import { MemoryCollection } from './memory-collection.ts'
import { commitInMemory } from './memory-commit.ts'
import type { MemoryDisk, TenantData } from './memory-disk.ts'
import type { MemoryTable } from './memory-table.ts'

/** Shared by the stores of one open medium. */
export interface MemoryHost {
  readonly disk: MemoryDisk
  readonly specs: Specs
  /** epoch ms */
  readonly clock: () => number
  /** of this opening */
  readonly session: string
  checkOpen(): void
  /** Counts a commit with its ms. */
  committed(ms: number): void
}

/** The store of one tenant. Calls take effect at once, in order. */
export class MemoryStore implements Store {
  readonly series: Series
  readonly blobs: Blobs
  readonly #host: MemoryHost
  readonly #data: TenantData

  constructor(host: MemoryHost, tenant: string, blobs: Blobs) {
    this.#host = host
    this.#data = host.disk.tenant(tenant)
    this.blobs = blobs
    this.series = seriesOf(host, this.#data)
  }

  collection<D extends Document>(spec: CollectionSpec<D>): Collection<D> {
    this.#host.checkOpen()
    const known = this.#host.specs.know(spec)
    return new MemoryCollection(
      spec,
      known,
      () => {
        this.#host.checkOpen()
        return this.#table(known)
      },
      (writes) => this.commit(writes),
    )
  }

  log(name: string): Log {
    checkLogName(name)
    const { logs } = this.#data
    const appending = (partition: number, bodies: Parameters<Log['append']>[1]): Write => ({
      kind: 'append',
      log: name,
      partition,
      bodies,
    })
    return {
      name,
      appending,
      append: async (partition, bodies) => (await this.commit([appending(partition, bodies)])).results[0] ?? 0,
      read: async (partition, after, limit) => {
        this.#host.checkOpen()
        return logs.read(name, partition, after, checkLogQuestion(name, partition, after, limit))
      },
      bounds: async (partition) => {
        this.#host.checkOpen()
        checkLogQuestion(name, partition)
        return logs.bounds(name, partition)
      },
      partitions: async () => {
        this.#host.checkOpen()
        return logs.partitions(name)
      },
      trim: async (partition, upTo) => {
        this.#host.checkOpen()
        checkLogQuestion(name, partition, upTo)
        logs.trim(name, partition, upTo)
      },
    }
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

function seriesOf({ clock, checkOpen, committed }: MemoryHost, data: TenantData): Series {
  const { series } = data
  return {
    append: async (batch) => {
      checkOpen()
      const start = performance.now()
      series.append(prepareBatch(batch))
      data.touched = true
      committed(performance.now() - start)
    },
    applied: async (log, partition) => {
      checkOpen()
      checkApplied(log, partition)
      return series.applied(log, partition)
    },
    range: async (query) => {
      checkOpen()
      return series.range(checkRange(query), clock())
    },
    columns: async (query) => {
      checkOpen()
      return columnsOf(series.range(checkRange(query), clock()))
    },
    buckets: async (query) => {
      checkOpen()
      const checked = checkBuckets(query)
      return checked === undefined ? [] : series.buckets(checked, clock())
    },
    latest: async (resource, metric) => {
      checkOpen()
      checkLatest(resource, metric)
      return series.latest(resource, metric, clock())
    },
    messages: async (query) => {
      checkOpen()
      return series.messages(checkMessages(query), clock())
    },
    remove: async (what) => {
      checkOpen()
      series.remove(checkRemoval(what))
    },
    expire: async (now) => {
      checkOpen()
      checkNow(now)
      return series.expire(now)
    },
  }
}
