/**
 * Documents by id, kept in memory as long as there is room: exact after every write that is put here, also when a
 * reading of the store was under way meanwhile. That something is not there is kept too.
 */
export class Shelf<T> {
  readonly #load: (id: string) => Promise<T | undefined>
  readonly #most: number
  /** in the order in which they were asked for last */
  readonly #kept = new Map<string, { readonly value: T | undefined }>()
  readonly #loading = new Map<string, Promise<T | undefined>>()

  constructor(load: (id: string) => Promise<T | undefined>, most: number) {
    this.#load = load
    this.#most = most
  }

  get size(): number {
    return this.#kept.size
  }

  /** What is kept; undefined when nothing is known. */
  peek(id: string): { readonly value: T | undefined } | undefined {
    const kept = this.#kept.get(id)
    if (kept === undefined) return undefined
    this.#kept.delete(id)
    this.#kept.set(id, kept)
    return kept
  }

  async get(id: string): Promise<T | undefined> {
    const kept = this.peek(id)
    return kept === undefined ? this.#read(id) : kept.value
  }

  /** After a write; undefined after a deletion. */
  put(id: string, value: T | undefined): void {
    this.#loading.delete(id)
    this.#kept.delete(id)
    this.#kept.set(id, { value })
    if (this.#kept.size <= this.#most) return
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined) this.#kept.delete(oldest)
  }

  forget(id: string): void {
    this.#loading.delete(id)
    this.#kept.delete(id)
  }

  #read(id: string): Promise<T | undefined> {
    const under = this.#loading.get(id)
    if (under !== undefined) return under
    const loading = this.#load(id).then(
      (value) => {
        // a write in between knows better
        if (this.#loading.get(id) === loading) this.put(id, value)
        return value
      },
      (error: unknown) => {
        if (this.#loading.get(id) === loading) this.#loading.delete(id)
        throw error
      },
    )
    this.#loading.set(id, loading)
    return loading
  }
}
