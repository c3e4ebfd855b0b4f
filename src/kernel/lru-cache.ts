/** Map of limited size that evicts the least recently used entry. */
export class LruCache<Key, Value extends object | string | number> {
  readonly #most: number
  /** least recently used first */
  readonly #entries = new Map<Key, Value>()
  /** most recently used key: using it again needs no reordering */
  #newest: Key | undefined

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined && key !== this.#newest) this.#use(key, value)
    return value
  }

  peek(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  values(): IterableIterator<Value> {
    return this.#entries.values()
  }

  set(key: Key, value: Value): Value | undefined {
    this.#use(key, value)
    if (this.#entries.size <= this.#most) return undefined
    for (const [oldest, pushedOut] of this.#entries) {
      this.#entries.delete(oldest)
      return pushedOut
    }
    return undefined
  }

  delete(key: Key): boolean {
    if (key === this.#newest) this.#newest = undefined
    return this.#entries.delete(key)
  }

  clear(): void {
    this.#newest = undefined
    this.#entries.clear()
  }

  #use(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    this.#newest = key
  }
}
