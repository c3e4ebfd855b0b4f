/**
 * Caches the counts of collections, updated by writes.
 *
 * COUNT-1 a count is updated incrementally only if its collection had no write in flight between query and result;
 *   otherwise the count may or may not include those writes, and is dropped at the next searchable change
 * COUNT-2 writes are applied to the counts in their order, when their results arrive and before their callers are
 *   notified
 */
import { LruCache } from '#kernel'
import type { Condition } from '../contract.ts'
import { rowFilter } from '../row-filter.ts'
import type { KnownSpec } from '../spec.ts'
import { equalsOf, MaintainedCounts, type Change, type MaintainedCount } from './reckoned-counts.ts'

export type { Change } from './reckoned-counts.ts'

const MAX_COUNTS = 500
/** longest query, in characters, whose count is cached */
const MAX_CHARACTERS = 2_000
interface Kept extends MaintainedCount {
  readonly collection: CollectionCounts
  readonly key: string
  readonly generation: number
  readonly count: Promise<number>
}

interface CollectionCounts {
  /** number of changes so far */
  generation: number
  /** number of writes submitted, and number of writes answered */
  begun: number
  ended: number
  readonly maintained: MaintainedCounts<Kept>
}

export class CountMemory {
  readonly #counts = new LruCache<string, Kept>(MAX_COUNTS)
  readonly #collections = new Map<string, CollectionCounts>()

  /** Call before submitting a write. Returns whether `ended` needs the changes of the write. */
  begun(tenant: string, collection: string): boolean {
    const counts = this.#countsOf(tenant, collection)
    counts.begun += 1
    return counts.maintained.size > 0
  }

  /** Call before the result of the write is passed on. `changes`: undefined when unknown. */
  ended(tenant: string, collection: string, changes: readonly Change[] | undefined): void {
    const counts = this.#countsOf(tenant, collection)
    counts.ended += 1
    if (changes === undefined || changes.length > 0) counts.generation += 1
    if (changes === undefined) counts.maintained.clear()
    else for (const change of changes) counts.maintained.update(change)
  }

  count(tenant: string, known: KnownSpec, where: readonly Condition[], load: () => Promise<number>): Promise<number> {
    const key = JSON.stringify([tenant, known.name, where])
    if (key.length > MAX_CHARACTERS) return load()
    const collection = this.#countsOf(tenant, known.name)
    const before = this.#counts.get(key)
    if (before !== undefined) {
      before.changes = 0
      const reckoned = collection.maintained.get(before)
      if (reckoned !== undefined) return Promise.resolve(reckoned)
      if (before.generation === collection.generation) return before.count
    }
    const { generation } = collection
    const [holds, equals] = [rowFilter(known, where), equalsOf(known, where)]
    const kept = { collection, key, generation, holds, equals, count: load(), changes: 0 }
    this.#keep(kept, before)
    const { begun, ended } = collection
    kept.count.then(
      (count) => {
        if (begun !== ended || collection.begun !== begun || this.#counts.peek(key) !== kept) return
        collection.maintained.add(kept, count)
      },
      () => {
        if (this.#counts.peek(key) === kept) this.#counts.delete(key)
      },
    )
    return kept.count
  }

  #keep(kept: Kept, before: Kept | undefined): void {
    if (before !== undefined) before.collection.maintained.delete(before)
    const pushedOut = this.#counts.set(kept.key, kept)
    pushedOut?.collection.maintained.delete(pushedOut)
  }

  // a blank separates the parts, since names of collections contain none
  #countsOf(tenant: string, collection: string): CollectionCounts {
    const name = `${collection} ${tenant}`
    let counts = this.#collections.get(name)
    if (counts === undefined) {
      counts = { generation: 0, begun: 0, ended: 0, maintained: new MaintainedCounts() }
      this.#collections.set(name, counts)
    }
    return counts
  }
}
