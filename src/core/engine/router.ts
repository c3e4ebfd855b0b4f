/** Which tasks listen to a resource: one lookup per message. */
import type { ListenersOf } from './executor.ts'

/** What is kept per resource while somebody listens; told when its listeners change. */
interface Source<T> {
  /** in the order in which they came */
  readonly listeners: ListenersOf<T>
  changed(): void
}

export class Router<T, S extends Source<T>> {
  readonly #sources = new Map<string, S>()
  readonly #resourcesOf = new Map<T, readonly string[]>()
  readonly #newSource: (resource: string) => S

  constructor(newSource: (resource: string) => S) {
    this.#newSource = newSource
  }

  /** Undefined when nobody listens. */
  sourceOf(resource: string): S | undefined {
    return this.#sources.get(resource)
  }

  add(listener: T, resources: readonly string[]): void {
    for (const resource of this.#resourcesOf.get(listener) ?? []) {
      if (!resources.includes(resource)) this.#removeFrom(resource, listener)
    }
    this.#resourcesOf.set(listener, resources)
    for (const resource of resources) {
      const source = this.#sources.get(resource) ?? this.#newSource(resource)
      this.#sources.set(resource, source)
      source.listeners.add(listener)
      source.changed()
    }
  }

  remove(listener: T): void {
    for (const resource of this.#resourcesOf.get(listener) ?? []) {
      this.#removeFrom(resource, listener)
    }
    this.#resourcesOf.delete(listener)
  }

  #removeFrom(resource: string, listener: T): void {
    const source = this.#sources.get(resource)
    if (source === undefined) return
    source.listeners.delete(listener)
    source.changed()
    if (source.listeners.size === 0) this.#sources.delete(resource)
  }

  /** Something about the listener is not as it was when it was added. */
  changed(listener: T): void {
    for (const resource of this.#resourcesOf.get(listener) ?? []) {
      this.#sources.get(resource)?.changed()
    }
  }

  clear(): void {
    for (const listener of this.#resourcesOf.keys()) this.remove(listener)
  }
}
