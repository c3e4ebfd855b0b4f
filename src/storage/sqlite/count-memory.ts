/**
 * Counts that were asked for, kept until a write changes what can be searched in their collection. Lists are paged through
 * with the count beside each page, and most writes change nothing that is searched.
 */
import type { Condition } from '../contract.ts'

const MOST_COUNTS = 500
/** characters of a question; longer ones are not asked twice */
const MOST_CHARACTERS = 2_000

interface Kept {
  readonly generation: number
  readonly count: Promise<number>
}

export class CountMemory {
  readonly #counts = new Map<string, Kept>()
  /** how often a collection of a tenant changed; of those that were written since the store was opened */
  readonly #generations = new Map<string, number>()

  /** To be called before the write is answered. */
  changed(tenant: string, collection: string): void {
    const of = placeOf(tenant, collection)
    this.#generations.set(of, (this.#generations.get(of) ?? 0) + 1)
  }

  count(tenant: string, collection: string, where: readonly Condition[], ask: () => Promise<number>): Promise<number> {
    const question = JSON.stringify([tenant, collection, where])
    if (question.length > MOST_CHARACTERS) return ask()
    const generation = this.#generations.get(placeOf(tenant, collection)) ?? 0
    const before = this.#counts.get(question)
    if (before?.generation === generation) return before.count
    const kept = { generation, count: ask() }
    this.#keep(question, kept)
    kept.count.catch(() => this.#counts.delete(question))
    return kept.count
  }

  #keep(question: string, kept: Kept): void {
    this.#counts.delete(question)
    this.#counts.set(question, kept)
    if (this.#counts.size <= MOST_COUNTS) return
    const [oldest] = this.#counts.keys()
    if (oldest !== undefined) this.#counts.delete(oldest)
  }
}

/** Names of collections have no blank in them. */
const placeOf = (tenant: string, collection: string): string => `${collection} ${tenant}`
