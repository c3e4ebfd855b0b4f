/** Read-through cache of documents. */
import { LruCache } from '#kernel'

/**
 * Cache of documents by id, bounded and exact after every `put`, even during a concurrent read of the store. Missing
 * documents are cached too.
 */
export class ReadThrough<T> {
  readonly #load: (id: string) => Promise<T | undefined>
  readonly #kept: LruCache<string, { readonly value: T | undefined }>
  readonly #loading = new Map<string, Promise<T | undefined>>()

  constructor(load: (id: string) => Promise<T | undefined>, most: number) {
    this.#load = load
    this.#kept = new LruCache(most)
  }

  /** Cached entry; undefined when unknown. */
  peek(id: string): { readonly value: T | undefined } | undefined {
    return this.#kept.get(id)
  }

  async get(id: string): Promise<T | undefined> {
    const kept = this.peek(id)
    return kept === undefined ? this.#read(id) : kept.value
  }

  /** Called after a write; undefined after a deletion. */
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
        // a concurrent write has precedence
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
