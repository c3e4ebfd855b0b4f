/** A map of limited size: an entry that finds no room pushes out the one that was used longest ago. */
export class LruCache<Key, Value extends object | string | number> {
  readonly #most: number
  /** in the order of their last use */
  readonly #entries = new Map<Key, Value>()
  /** used last: using it again changes nothing */
  #newest: Key | undefined

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#entries.size
  }

  /** The value; asking for it is a use. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined && key !== this.#newest) this.#use(key, value)
    return value
  }

  /** The value, without a use. */
  peek(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  /** The values, that which was used longest ago first. */
  values(): IterableIterator<Value> {
    return this.#entries.values()
  }

  /** Returns the value that was pushed out for want of room. */
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
