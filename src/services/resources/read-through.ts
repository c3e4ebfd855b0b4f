/** Documents of a collection as requests read them: from memory as long as there is room. */
import { LruCache } from '#kernel'

/**
 * Documents by id, kept in memory as long as there is room: exact after every write that is put here, also when a
 * reading of the store was under way meanwhile. That something is not there is kept too.
 */
export class ReadThrough<T> {
  readonly #load: (id: string) => Promise<T | undefined>
  readonly #kept: LruCache<string, { readonly value: T | undefined }>
  readonly #loading = new Map<string, Promise<T | undefined>>()

  constructor(load: (id: string) => Promise<T | undefined>, most: number) {
    this.#load = load
    this.#kept = new LruCache(most)
  }

  /** What is kept; undefined when nothing is known. */
  peek(id: string): { readonly value: T | undefined } | undefined {
    return this.#kept.get(id)
  }

  async get(id: string): Promise<T | undefined> {
    const kept = this.peek(id)
    return kept === undefined ? this.#read(id) : kept.value
  }

  /** After a write; undefined after a deletion. */
  put(id: string, value: T | undefined): void {
    this.#loading.delete(id)
    this.#kept.set(id, { value })
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
