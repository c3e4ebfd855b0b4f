/**
 * Counts that were asked for. Lists are paged through with the count beside each page, so a count is kept, and what is
 * written to its collection is reckoned into it: a count right after a write costs no look at the file.
 *
 * COUNT-1 a count is reckoned on with only when no write of its collection was under way from question to answer: else
 *   nobody knows which of them are in it. Such a count is good until something that can be searched changes
 * COUNT-2 writes are reckoned in when they are answered, in the order in which they were made, before who wrote is
 *   told
 */
import { LruCache } from '#kernel'
import type { Condition } from '../contract.ts'
import { rowFilter } from '../row-filter.ts'
import type { KnownSpec } from '../spec.ts'
import { equalsOf, ReckonedCounts, type Change, type Reckonable } from './reckoned-counts.ts'

export type { Change } from './reckoned-counts.ts'

const MAX_COUNTS = 500
/** characters of a question; longer ones are not asked twice */
const MAX_CHARACTERS = 2_000
interface Kept extends Reckonable {
  readonly place: Place
  readonly question: string
  readonly generation: number
  readonly count: Promise<number>
}

/** A collection of a tenant. */
interface Place {
  /** how often it changed */
  generation: number
  /** writes handed over, and those that were answered */
  begun: number
  ended: number
  readonly reckoned: ReckonedCounts<Kept>
}

export class CountMemory {
  readonly #counts = new LruCache<string, Kept>(MAX_COUNTS)
  readonly #places = new Map<string, Place>()

  /** Before a write is handed over. Gives whether its changes are to be told to `ended`. */
  begun(tenant: string, collection: string): boolean {
    const place = this.#place(tenant, collection)
    place.begun += 1
    return place.reckoned.size > 0
  }

  /** Before the write is answered. `changes`: what it changed; undefined when something changed and nobody told what. */
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

  /** Names of collections have no blank in them. */
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
