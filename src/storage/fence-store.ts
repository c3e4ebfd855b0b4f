/**
 * A store for one of several that could write it. Whoever takes a fence gets its next epoch, and commits under earlier
 * ones are refused by the medium from then on: a process that was frozen, or cut off, and does not know yet that another
 * has taken over changes nothing. A guess about who is alive may so cost time, but never truth.
 *
 * FENCE-1 once a fence is taken, no commit under an earlier epoch of it takes effect
 * FENCE-2 what was answered under an earlier epoch before it was taken is seen by whoever took it
 *
 * Samples (`series`) and objects (`blobs`) are not fenced: the same sample may be written twice, and the content of an
 * object is found by a document only.
 */
import { AppError } from '../kernel/errors.ts'
import type { Json } from '../kernel/json.ts'
import type { Collection, CollectionSpec, Committed, Document, Expectation, Log, Store, Write } from './contract.ts'

/** Who may write what the fence guards. */
interface FenceRecord {
  readonly holder: string
}

const FENCES: CollectionSpec<FenceRecord> = { name: 'fences', version: 1, fields: {} }

export interface Fence {
  readonly name: string
  /** counts those who took it, from 1 */
  readonly epoch: number
}

/** Takes the fence, whoever has it: `holder` tells people who it was. */
export async function takeFence(store: Store, name: string, holder: string): Promise<Fence> {
  return { name, epoch: await store.collection(FENCES).put(name, { holder }) }
}

/** Who took the fence last; undefined: nobody yet. */
export async function fenceHolder(
  store: Store,
  name: string,
): Promise<{ readonly holder: string; readonly epoch: number } | undefined> {
  const record = await store.collection(FENCES).get(name)
  return record && { holder: record.value.holder, epoch: record.version }
}

/**
 * The same store, whose commits are refused with `FENCED` once somebody else has taken the fence. `lost` is told of the
 * first of them: nothing that was read here may be trusted any more.
 */
export function fenceStore(store: Store, fence: Fence, lost: (error: AppError) => void = () => undefined): Store {
  return new FencedStore(store, fence, lost)
}

class FencedStore implements Store {
  readonly series: Store['series']
  readonly #store: Store
  readonly #fence: Fence
  readonly #lost: (error: AppError) => void
  readonly #check: Write
  #error: AppError | undefined

  constructor(store: Store, fence: Fence, lost: (error: AppError) => void) {
    this.#store = store
    this.#fence = fence
    this.#lost = lost
    this.#check = store.collection(FENCES).expecting(fence.name, fence.epoch)
    this.series = store.series
  }

  get blobs(): Store['blobs'] {
    return this.#store.blobs
  }

  collection<D extends Document>(spec: CollectionSpec<D>): Collection<D> {
    return new FencedCollection(this.#store.collection(spec), (writes) => this.commit(writes))
  }

  log(name: string): Log {
    const log = this.#store.log(name)
    return {
      name,
      appending: (partition, bodies) => log.appending(partition, bodies),
      append: async (partition, bodies: readonly Json[]) => {
        const { results } = await this.commit([log.appending(partition, bodies)])
        return results[0] ?? 0
      },
      read: (partition, after, limit) => log.read(partition, after, limit),
      bounds: (partition) => log.bounds(partition),
      partitions: () => log.partitions(),
      trim: (partition, upTo) => log.trim(partition, upTo),
    }
  }

  async commit(writes: readonly Write[]): Promise<Committed> {
    if (this.#error !== undefined) throw this.#error
    if (writes.length === 0) return { results: [] }
    try {
      const { results } = await this.#store.commit([...writes, this.#check])
      return { results: results.slice(0, -1) }
    } catch (error) {
      throw this.#isOfFence(error, writes.length) ? await this.#refuse() : error
    }
  }

  now(): ReturnType<Store['now']> {
    return this.#store.now()
  }

  #isOfFence(error: unknown, place: number): boolean {
    return error instanceof AppError && error.code === 'CONFLICT' && error.issues.some(({ path }) => path === `/${place}`)
  }

  async #refuse(): Promise<AppError> {
    const { name, epoch } = this.#fence
    const now = await fenceHolder(this.#store, name).catch(() => undefined)
    const who = now === undefined ? 'another' : `${now.holder} (epoch ${now.epoch})`
    const isFirst = this.#error === undefined
    this.#error ??= new AppError('FENCED', `${who} has taken over ${name}: what this one, epoch ${epoch}, asks for is refused`)
    if (isFirst) this.#lost(this.#error)
    return this.#error
  }
}

class FencedCollection<D extends Document> implements Collection<D> {
  readonly #inner: Collection<D>
  readonly #commit: (writes: readonly Write[]) => Promise<Committed>

  constructor(inner: Collection<D>, commit: (writes: readonly Write[]) => Promise<Committed>) {
    this.#inner = inner
    this.#commit = commit
  }

  get spec() {
    return this.#inner.spec
  }

  get(...question: Parameters<Collection<D>['get']>) {
    return this.#inner.get(...question)
  }

  getMany(...question: Parameters<Collection<D>['getMany']>) {
    return this.#inner.getMany(...question)
  }

  find(...question: Parameters<Collection<D>['find']>) {
    return this.#inner.find(...question)
  }

  ids(...question: Parameters<Collection<D>['ids']>) {
    return this.#inner.ids(...question)
  }

  count(...question: Parameters<Collection<D>['count']>) {
    return this.#inner.count(...question)
  }

  countBy(...question: Parameters<Collection<D>['countBy']>) {
    return this.#inner.countBy(...question)
  }

  async put(id: string, value: D, expect?: Expectation): Promise<number> {
    const { results } = await this.#commit([this.putting(id, value, expect)])
    return results[0] ?? 0
  }

  async delete(id: string, expect?: Expectation): Promise<boolean> {
    const { results } = await this.#commit([this.deleting(id, expect)])
    return results[0] === 1
  }

  putting(id: string, value: D, expect?: Expectation): Write {
    return this.#inner.putting(id, value, expect)
  }

  deleting(id: string, expect?: Expectation): Write {
    return this.#inner.deleting(id, expect)
  }

  expecting(id: string, version: number): Write {
    return this.#inner.expecting(id, version)
  }
}
