/**
 * Retires concurrent operations in batches and in the order in which they began, although they may end in any order.
 *
 * REORDER-1 nothing is retired before its operation has ended, nor before everything that began earlier
 * REORDER-2 a failed operation delays nothing: it is retired in its turn, with its error
 * REORDER-3 one call of `retire` at a time
 */

export interface Ended<Item, Result> {
  readonly item: Item
  readonly outcome: Outcome<Result>
}

export type Outcome<Result> = { readonly result: Result } | { readonly error: unknown }

interface Entry<Item, Result> {
  readonly item: Item
  /** undefined while in flight */
  outcome: Outcome<Result> | undefined
  next: Entry<Item, Result> | undefined
}

export class ReorderBuffer<Item, Result> {
  readonly #retire: (ended: readonly Ended<Item, Result>[]) => Promise<void>
  #oldest: Entry<Item, Result> | undefined
  #newest: Entry<Item, Result> | undefined
  #isRetiring = false
  #added = 0
  #dropped = 0
  #waiting: { readonly upTo: number; readonly go: () => void }[] = []

  /** `retire` must drop each entry when done with it, and must not reject. */
  constructor(retire: (ended: readonly Ended<Item, Result>[]) => Promise<void>) {
    this.#retire = retire
  }

  get size(): number {
    return this.#added - this.#dropped
  }

  get oldest(): Item | undefined {
    return this.#oldest?.item
  }

  get newest(): Item | undefined {
    return this.#newest?.item
  }

  add(item: Item, operation: Promise<Result>): void {
    const entry: Entry<Item, Result> = { item, outcome: undefined, next: undefined }
    if (this.#newest === undefined) this.#oldest = entry
    else this.#newest.next = entry
    this.#newest = entry
    this.#added++
    operation.then(
      (result) => this.#end(entry, { result }),
      (error: unknown) => this.#end(entry, { error }),
    )
  }

  drop(count: number): void {
    for (let i = 0; i < count && this.#oldest !== undefined; i++) {
      const { next }: Entry<Item, Result> = this.#oldest
      // unlink the dropped entry so that it does not keep later entries in memory
      this.#oldest.next = undefined
      this.#oldest = next
      this.#dropped++
    }
    if (this.#oldest === undefined) this.#newest = undefined
    if (this.#waiting.length === 0) return
    const ready = this.#waiting.filter(({ upTo }) => upTo <= this.#dropped)
    this.#waiting = this.#waiting.filter(({ upTo }) => upTo > this.#dropped)
    for (const { go } of ready) go()
  }

  passed(): Promise<void> | undefined {
    if (this.size === 0) return undefined
    const upTo = this.#added
    return new Promise((go) => this.#waiting.push({ upTo, go }))
  }

  #end(entry: Entry<Item, Result>, outcome: Outcome<Result>): void {
    entry.outcome = outcome
    if (this.#isRetiring || entry !== this.#oldest) return
    this.#isRetiring = true
    void this.#retireAll()
  }

  async #retireAll(): Promise<void> {
    // let operations that end together form one batch
    await Promise.resolve()
    for (let ended = this.#ended(); ended.length > 0; ended = this.#ended()) await this.#retire(ended)
    this.#isRetiring = false
  }

  #ended(): readonly Ended<Item, Result>[] {
    const ended: Ended<Item, Result>[] = []
    for (let entry = this.#oldest; entry?.outcome !== undefined; entry = entry.next) {
      ended.push(entry as Ended<Item, Result>)
    }
    return ended
  }
}
