/**
 * A map of what is there for a short while and in great numbers, such as open calls by id. V8 links the tables that a Map
 * outgrew to their followers, with what was in them: once one of them is old, all that passes through the map lives
 * until the next large collection. An object used as a dictionary has no such links.
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

  /** Whether it was there. */
  delete(key: Key): boolean {
    if (!(key in this.#values)) return false
    this.#size--
    return Reflect.deleteProperty(this.#values, key)
  }

  /** What is there now, the smallest number first. */
  values(): readonly Value[] {
    return Object.values(this.#values) as Value[]
  }

  clear(): void {
    for (const key of Object.keys(this.#values) as Key[]) this.delete(key)
  }
}
