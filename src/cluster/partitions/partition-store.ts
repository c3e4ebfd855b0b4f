/** Provides the store of one partition of a tenant: its own logs and progress, everything else shared. */
import {
  type Collection,
  type CollectionSpec,
  type Committed,
  type Document,
  type Log,
  type Series,
  type Store,
  type Write,
} from '#storage'

/** Logs that each partition has for itself (`LOG_NAME` in `src/log`). */
const LOGS: ReadonlySet<string> = new Set(['log'])
const COLLECTIONS: ReadonlySet<string> = new Set(['rule_marks', 'rule_inputs'])

/** Returns the store of a partition; the first partition uses the tenant's store itself. */
export function partitionStore(store: Store, number: number): Store {
  return number === 0 ? store : new PartitionStore(store, number)
}

class PartitionStore implements Store {
  readonly series: Series
  readonly #store: Store
  readonly #number: number

  constructor(store: Store, number: number) {
    this.#store = store
    this.#number = number
    this.series = seriesOf(store.series, number)
  }

  get actingAs(): Store['actingAs'] {
    return this.#store.actingAs
  }

  get blobs(): Store['blobs'] {
    return this.#store.blobs
  }

  collection<D extends Document>(spec: CollectionSpec<D>): Collection<D> {
    const inner = this.#store.collection(spec)
    return COLLECTIONS.has(spec.name) ? documentsOf(inner, (id) => this.#idOf(id)) : inner
  }

  log(name: string): Log {
    const log = this.#store.log(name)
    return LOGS.has(name) ? logOf(log, this.#number) : log
  }

  commit(writes: readonly Write[]): Promise<Committed> {
    return this.#store.commit(writes.map((write) => this.#toPartition(write)))
  }

  now(): ReturnType<Store['now']> {
    return this.#store.now()
  }

  #idOf(id: string): string {
    return `${id}/${this.#number}`
  }

  #toPartition(write: Write): Write {
    if (write.kind === 'append') return LOGS.has(write.log) ? { ...write, partition: this.#number } : write
    return COLLECTIONS.has(write.collection.name) ? { ...write, id: this.#idOf(write.id) } : write
  }
}

function logOf(log: Log, number: number): Log {
  return {
    name: log.name,
    append: (_partition, bodies) => log.append(number, bodies),
    appending: (_partition, bodies) => log.appending(number, bodies),
    read: (_partition, after, limit) => log.read(number, after, limit),
    bounds: () => log.bounds(number),
    partitions: () => Promise.resolve([0]),
    trim: (_partition, upTo) => log.trim(number, upTo),
  }
}

/** Maps ids in direct calls. Prepared writes keep the service's ids until the commit maps them. */
function documentsOf<D extends Document>(inner: Collection<D>, idOf: (id: string) => string): Collection<D> {
  return {
    ...inner,
    get: (id) => inner.get(idOf(id)),
    getMany: (ids) => inner.getMany(ids.map(idOf)),
    put: (id, value, expect) => inner.put(idOf(id), value, expect),
    delete: (id, expect) => inner.delete(idOf(id), expect),
  }
}

function seriesOf(series: Series, number: number): Series {
  return {
    ...series,
    append: (batch) =>
      series.append(
        batch.applies !== undefined && LOGS.has(batch.applies.log)
          ? { ...batch, applies: { ...batch.applies, partition: number } }
          : batch,
      ),
    applied: (log, partition) => series.applied(log, LOGS.has(log) ? number : partition),
  }
}
