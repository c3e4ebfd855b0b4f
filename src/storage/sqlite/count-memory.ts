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
import { equalsOf, ReckonedCounts, type Change, type Reckonable } from './reckoned-counts.ts'

export type { Change } from './reckoned-counts.ts'

const MAX_COUNTS = 500
/** longest query, in characters, whose count is cached */
const MAX_CHARACTERS = 2_000
interface Kept extends Reckonable {
  readonly place: Place
  readonly question: string
  readonly generation: number
  readonly count: Promise<number>
}

interface Place {
  /** number of changes so far */
  generation: number
  /** number of writes submitted, and number of writes answered */
  begun: number
  ended: number
  readonly reckoned: ReckonedCounts<Kept>
}

export class CountMemory {
  readonly #counts = new LruCache<string, Kept>(MAX_COUNTS)
  readonly #places = new Map<string, Place>()

  /** Call before submitting a write. Returns whether `ended` needs the changes of the write. */
  begun(tenant: string, collection: string): boolean {
    const place = this.#place(tenant, collection)
    place.begun += 1
    return place.reckoned.size > 0
  }

  /** Call before the result of the write is passed on. `changes`: undefined when unknown. */
  ended(tenant: string, collection: string, changes: readonly Change[] | undefined): void {
    const place = this.#place(tenant, collection)
    place.ended += 1
    if (changes === undefined || changes.length > 0) place.generation += 1
    if (changes === undefined) place.reckoned.clear()
    else for (const change of changes) place.reckoned.reckon(change)
  }

  count(tenant: string, known: KnownSpec, where: readonly Condition[], ask: () => Promise<number>): Promise<number> {
    const question = JSON.stringify([tenant, known.name, where])
    if (question.length > MAX_CHARACTERS) return ask()
    const place = this.#place(tenant, known.name)
    const before = this.#counts.get(question)
    if (before !== undefined) {
      before.changes = 0
      const reckoned = place.reckoned.get(before)
      if (reckoned !== undefined) return Promise.resolve(reckoned)
      if (before.generation === place.generation) return before.count
    }
    const { generation } = place
    const [holds, equals] = [rowFilter(known, where), equalsOf(known, where)]
    const kept = { place, question, generation, holds, equals, count: ask(), changes: 0 }
    this.#keep(kept, before)
    const { begun, ended } = place
    kept.count.then(
      (count) => {
        if (begun !== ended || place.begun !== begun || this.#counts.peek(question) !== kept) return
        place.reckoned.add(kept, count)
      },
      () => {
        if (this.#counts.peek(question) === kept) this.#counts.delete(question)
      },
    )
    return kept.count
  }

  #keep(kept: Kept, before: Kept | undefined): void {
    if (before !== undefined) before.place.reckoned.delete(before)
    const pushedOut = this.#counts.set(kept.question, kept)
    pushedOut?.place.reckoned.delete(pushedOut)
  }

  // a blank separates the parts, since names of collections contain none
  #place(tenant: string, collection: string): Place {
    const name = `${collection} ${tenant}`
    let place = this.#places.get(name)
    if (place === undefined) {
      place = { generation: 0, begun: 0, ended: 0, reckoned: new ReckonedCounts() }
      this.#places.set(name, place)
    }
    return place
  }
}
