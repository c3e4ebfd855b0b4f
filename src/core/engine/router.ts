/** Which tasks listen to a resource: one lookup per message. */
export class Router<T> {
  readonly #byResource = new Map<string, Set<T>>()
  readonly #resourcesOf = new Map<T, readonly string[]>()

  /** the listeners of a resource, in the order in which they came; undefined when there is none */
  at(resource: string): ReadonlySet<T> | undefined {
    return this.#byResource.get(resource)
  }

  add(listener: T, resources: readonly string[]): void {
    this.remove(listener)
    this.#resourcesOf.set(listener, resources)
    for (const resource of resources) {
      const listeners = this.#byResource.get(resource)
      if (listeners) listeners.add(listener)
      else this.#byResource.set(resource, new Set([listener]))
    }
  }

  remove(listener: T): void {
    for (const resource of this.#resourcesOf.get(listener) ?? []) {
      const listeners = this.#byResource.get(resource)
      listeners?.delete(listener)
      if (listeners?.size === 0) this.#byResource.delete(resource)
    }
    this.#resourcesOf.delete(listener)
  }

  clear(): void {
    this.#byResource.clear()
    this.#resourcesOf.clear()
  }
}
