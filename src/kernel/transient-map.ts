/** Map for many short-lived entries, as an object: V8 keeps the old tables of a growing Map alive. */
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
