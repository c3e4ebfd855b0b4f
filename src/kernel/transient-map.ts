/**
 * Map for many short-lived entries, such as open calls by id. When a Map grows, V8 links the old tables to their
 * successors: once an old table is promoted, all its entries survive until the next major collection. An object used as
 * a dictionary avoids this.
 */
export class TransientMap<Key extends string | number, Value> {
  readonly #values = Object.create(null) as Record<Key, Value | undefined>
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: Key): Value | undefined {
    return this.#values[key]
  }

  set(key: Key, value: Value): void {
    if (!(key in this.#values)) this.#size++
    this.#values[key] = value
  }

  delete(key: Key): boolean {
    if (!(key in this.#values)) return false
    this.#size--
    return Reflect.deleteProperty(this.#values, key)
  }

  /** Current values, by ascending key for numeric keys. */
  values(): readonly Value[] {
    return Object.values(this.#values) as Value[]
  }

  clear(): void {
    for (const key of Object.keys(this.#values) as Key[]) this.delete(key)
  }
}
