/** Collects items while earlier items are being processed, and then processes the collected ones together. */
export class Gathering<Item extends { readonly size: number }> {
  readonly #work: (items: readonly Item[]) => Promise<void>
  readonly #mostItems: number
  readonly #mostSize: number
  readonly #waiting: Item[] = []
  readonly #whenIdle: (() => void)[] = []
  #underWay = 0
  #running = false

  /** `work` must never reject; it settles its items itself. */
  constructor(
    work: (items: readonly Item[]) => Promise<void>,
    limits: { readonly items: number; readonly size: number },
  ) {
    this.#work = work
    this.#mostItems = limits.items
    this.#mostSize = limits.size
  }

  get queued(): number {
    return this.#waiting.length + this.#underWay
  }

  add(item: Item): void {
    this.#waiting.push(item)
    if (this.#running) return
    this.#running = true
    setImmediate(() => void this.#run())
  }

  idle(): Promise<void> {
    return this.#running ? new Promise((resolve) => this.#whenIdle.push(resolve)) : Promise.resolve()
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const items = this.#waiting.splice(0, this.#fitting())
      this.#underWay = items.length
      await this.#work(items)
      this.#underWay = 0
    }
    this.#running = false
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  /** Returns how many waiting items are processed together next; at least one. */
  #fitting(): number {
    let size = 0
    let count = 0
    for (const item of this.#waiting) {
      size += item.size
      if (count === this.#mostItems || (count > 0 && size > this.#mostSize)) break
      count += 1
    }
    return count
  }
}

/** Splits a failed batch into two halves, in order. Repeated splitting isolates the items that fail. */
export function halves<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const middle = Math.ceil(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)]
}
