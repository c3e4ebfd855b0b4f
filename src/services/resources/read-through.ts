/** A read-through cache for documents. */
import { LruCache } from '#kernel'

/** Bounded, and up to date after every `put`; also caches that a document does not exist. */
export class ReadThrough<T> {
  readonly #load: (id: string) => Promise<T | undefined>
  readonly #kept: LruCache<string, { readonly value: T | undefined }>
  readonly #loading = new Map<string, Promise<T | undefined>>()

  constructor(load: (id: string) => Promise<T | undefined>, most: number) {
    this.#load = load
    this.#kept = new LruCache(most)
  }

  peek(id: string): { readonly value: T | undefined } | undefined {
    return this.#kept.get(id)
  }

  async get(id: string): Promise<T | undefined> {
    const kept = this.peek(id)
    return kept === undefined ? this.#read(id) : kept.value
  }

  /** Call after a write; `value` is undefined after a deletion. */
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
        // a concurrent write takes precedence
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
