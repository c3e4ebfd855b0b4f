/**
 * Lets only one of several processes write to a store at a time, by a fence that rejects commits of earlier terms.
 *
 * FENCE-1 once a fence is taken, commits of its former holder have no effect
 * FENCE-2 a new holder sees all confirmed commits of its predecessors
 * FENCE-3 terms only rise: an earlier term cannot take the fence
 *
 * Samples and objects are not fenced: appends are idempotent, and objects are found by documents only.
 */
import { AppError, retryOnConflict } from '#kernel'
import { committedCollection } from './committed-collection.ts'
import type { Collection, CollectionSpec, Committed, Document, Log, Store, Write } from './contract.ts'

interface FenceRecord {
  readonly holder: string
  readonly term: number
}

export const FENCES: CollectionSpec<FenceRecord> = { name: 'fences', version: 1, fields: {} }

export interface HeldFence {
  readonly name: string
  readonly term: number
  /** version of the fence's document, which changes with every holder */
  readonly version: number
}

export interface FenceHolder {
  readonly holder: string
  readonly term: number
}

/** Takes the fence; again for the same term is fine. Throws `FENCED` when a later term has taken it. */
export async function takeFence(store: Store, name: string, { holder, term }: FenceHolder): Promise<HeldFence> {
  const fences = store.collection(FENCES)
  return retryOnConflict(async () => {
    const known = await fences.get(name)
    if (known !== undefined && known.value.term > term) throw fenced(name, term, known.value)
    return { name, term, version: await fences.put(name, { holder, term }, known?.version ?? 'absent') }
  })
}

function fenced(name: string, term: number, now: FenceHolder | undefined): AppError {
  const holder = now === undefined ? 'another host' : `${now.holder} (term ${now.term})`
  return new AppError('FENCED', `${holder} has taken over ${name}: requests of term ${term} are rejected`)
}

/** `lost` is called at the first commit rejected with `FENCED`: whatever was read before may be outdated. */
export function fenceStore(store: Store, fence: HeldFence, lost: (error: AppError) => void = () => undefined): Store {
  return new FencedStore(store, fence, lost)
}

class FencedStore implements Store {
  readonly series: Store['series']
  readonly #store: Store
  readonly #fence: HeldFence
  readonly #lost: (error: AppError) => void
  readonly #check: Write
  #error: AppError | undefined

  constructor(store: Store, fence: HeldFence, lost: (error: AppError) => void) {
    this.#store = store
    this.#fence = fence
    this.#lost = lost
    this.#check = store.collection(FENCES).expecting(fence.name, fence.version)
    this.series = store.series
  }

  get actingAs(): Store['actingAs'] {
    return this.#store.actingAs
  }

  get blobs(): Store['blobs'] {
    return this.#store.blobs
  }

  collection<D extends Document>(spec: CollectionSpec<D>): Collection<D> {
    return committedCollection(this.#store.collection(spec), (writes) => this.commit(writes))
  }

  log(name: string): Log {
    const log = this.#store.log(name)
    return {
      ...log,
      append: async (bodies) => {
        const { results } = await this.commit([log.appending(bodies)])
        return results[0] ?? 0
      },
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

  #isOfFence(error: unknown, index: number): boolean {
    return (
      error instanceof AppError && error.code === 'CONFLICT' && error.issues.some(({ path }) => path === `/${index}`)
    )
  }

  async #refuse(): Promise<AppError> {
    const { name, term } = this.#fence
    const now = await this.#store
      .collection(FENCES)
      .get(name)
      .catch(() => undefined)
    const isFirst = this.#error === undefined
    this.#error ??= fenced(name, term, now?.value)
    if (isFirst) this.#lost(this.#error)
    return this.#error
  }
}
