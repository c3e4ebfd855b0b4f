/** Provides the store of one partition of a tenant: its own logs and progress, everything else shared. */
import {
  type Collection,
  type CollectionSpec,
  type Committed,
  type Document,
  type Expectation,
  type Log,
  type LogBody,
  type Series,
  type Store,
  WrappedCollection,
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
    return COLLECTIONS.has(spec.name) ? new PartitionDocuments(inner, (id) => this.#idOf(id)) : inner
  }

  log(name: string): Log {
    const log = this.#store.log(name)
    return LOGS.has(name) ? new PartitionLog(log, this.#number) : log
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

class PartitionLog implements Log {
  readonly name: string
  readonly #log: Log
  readonly #number: number

  constructor(log: Log, number: number) {
    this.name = log.name
    this.#log = log
    this.#number = number
  }

  append(_partition: number, bodies: readonly LogBody[]): Promise<number> {
    return this.#log.append(this.#number, bodies)
  }

  appending(_partition: number, bodies: readonly LogBody[]): Write {
    return this.#log.appending(this.#number, bodies)
  }

  read(_partition: number, after: number, limit?: number): ReturnType<Log['read']> {
    return this.#log.read(this.#number, after, limit)
  }

  bounds(_partition: number): ReturnType<Log['bounds']> {
    return this.#log.bounds(this.#number)
  }

  partitions(): Promise<readonly number[]> {
    return Promise.resolve([0])
  }

  trim(_partition: number, upTo: number): Promise<void> {
    return this.#log.trim(this.#number, upTo)
  }
}

/** Maps ids in direct calls. Prepared writes keep the service's ids until the commit maps them. */
class PartitionDocuments<D extends Document> extends WrappedCollection<D> {
  readonly #idOf: (id: string) => string

  constructor(inner: Collection<D>, idOf: (id: string) => string) {
    super(inner)
    this.#idOf = idOf
  }

  override get(id: string): ReturnType<Collection<D>['get']> {
    return super.get(this.#idOf(id))
  }

  override getMany(ids: readonly string[]): ReturnType<Collection<D>['getMany']> {
    return super.getMany(ids.map(this.#idOf))
  }

  override put(id: string, value: D, expect?: Expectation): Promise<number> {
    return super.put(this.#idOf(id), value, expect)
  }

  override delete(id: string, expect?: Expectation): Promise<boolean> {
    return super.delete(this.#idOf(id), expect)
  }
}

function seriesOf(series: Series, number: number): Series {
  const overrides: Pick<Series, 'append' | 'applied'> = {
    append: (batch) =>
      series.append(
        batch.applies !== undefined && LOGS.has(batch.applies.log)
          ? { ...batch, applies: { ...batch.applies, partition: number } }
          : batch,
      ),
    applied: (log, partition) => series.applied(log, LOGS.has(log) ? number : partition),
  }
  return new Proxy(series, {
    get(target, name) {
      if (name === 'append' || name === 'applied') return overrides[name]
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}
