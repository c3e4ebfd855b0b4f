/** Which tasks listen to a resource: one lookup per message, which gives a small number. */

/** What is kept per resource; told when its listeners change. */
interface Source {
  changed(): void
}

interface Route<T, S> {
  readonly listeners: Set<T>
  readonly source: S
}

export class Router<T, S extends Source> {
  readonly #numbers = new Map<string, number>()
  readonly #routes: (Route<T, S> | undefined)[] = []
  readonly #free: number[] = []
  readonly #resourcesOf = new Map<T, readonly string[]>()
  readonly #sourceOf: (number: number, listeners: ReadonlySet<T>) => S

  constructor(sourceOf: (number: number, listeners: ReadonlySet<T>) => S) {
    this.#sourceOf = sourceOf
  }

  /** The number of a resource while somebody listens to it; used again when nobody does. */
  numberOf(resource: string): number | undefined {
    return this.#numbers.get(resource)
  }

  /** Listeners in the order in which they came; undefined when the last one has gone. */
  at(number: number): Route<T, S> | undefined {
    return this.#routes[number]
  }

  listenersOf(resource: string): ReadonlySet<T> | undefined {
    const number = this.#numbers.get(resource)
    return number === undefined ? undefined : this.#routes[number]?.listeners
  }

  add(listener: T, resources: readonly string[]): void {
    this.remove(listener)
    this.#resourcesOf.set(listener, resources)
    for (const resource of resources) {
      const route = this.#route(resource)
      route.listeners.add(listener)
      route.source.changed()
    }
  }

  remove(listener: T): void {
    for (const resource of this.#resourcesOf.get(listener) ?? []) {
      const number = this.#numbers.get(resource)
      const route = number === undefined ? undefined : this.#routes[number]
      if (number === undefined || route === undefined) continue
      route.listeners.delete(listener)
      route.source.changed()
      if (route.listeners.size > 0) continue
      this.#numbers.delete(resource)
      this.#routes[number] = undefined
      this.#free.push(number)
    }
    this.#resourcesOf.delete(listener)
  }

  /** Something about the listener is not as it was when it was added. */
  changed(listener: T): void {
    for (const resource of this.#resourcesOf.get(listener) ?? []) {
      const number = this.#numbers.get(resource)
      if (number !== undefined) this.#routes[number]?.source.changed()
    }
  }

  clear(): void {
    for (const listener of this.#resourcesOf.keys()) this.remove(listener)
  }

  #route(resource: string): Route<T, S> {
    const known = this.#numbers.get(resource)
    const found = known === undefined ? undefined : this.#routes[known]
    if (found !== undefined) return found
    const number = this.#free.pop() ?? this.#routes.length
    const listeners = new Set<T>()
    const route = { listeners, source: this.#sourceOf(number, listeners) }
    this.#numbers.set(resource, number)
    this.#routes[number] = route
    return route
  }
}
