/** Routes resources to tasks with one lookup per message. */
import type { ListenersOf } from './executor.ts'

interface Source<T> {
  readonly listeners: ListenersOf<T>
  changed(): void
}

export interface Routed {
  routed: readonly string[]
  /** further resources, which join and leave one by one */
  readonly memberIds?: Iterable<string> | undefined
}

export const NOWHERE: readonly string[] = []

export class Router<T extends Routed, S extends Source<T>> {
  readonly #sources = new Map<string, S>()
  /** the only listener of each resource without messages so far */
  readonly #waiting = new Map<string, T>()
  readonly #newSource: (resource: string) => S

  constructor(newSource: (resource: string) => S) {
    this.#newSource = newSource
  }

  sourceOf(resource: string): S | undefined {
    return this.#sources.get(resource) ?? this.#awaited(resource)
  }

  #awaited(resource: string): S | undefined {
    const listener = this.#waiting.get(resource)
    if (listener === undefined) return undefined
    this.#waiting.delete(resource)
    const source = this.#newSource(resource)
    this.#sources.set(resource, source)
    source.listeners.add(listener)
    source.changed()
    return source
  }

  add(listener: T, resources: readonly string[]): void {
    for (const resource of listener.routed) {
      if (!resources.includes(resource)) this.#removeFrom(resource, listener)
    }
    listener.routed = resources
    for (const resource of resources) this.#addTo(resource, listener)
  }

  #addTo(resource: string, listener: T): void {
    if (!this.#sources.has(resource)) {
      const first = this.#waiting.get(resource)
      if (first === listener) return
      if (first === undefined) {
        this.#waiting.set(resource, listener)
        return
      }
    }
    const source = this.sourceOf(resource)
    source?.listeners.add(listener)
    source?.changed()
  }

  /** Routes one more resource to a listener. */
  join(listener: T, resource: string): void {
    this.#addTo(resource, listener)
  }

  /** Ends that, unless the resource is routed to the listener anyway. */
  leave(listener: T, resource: string): void {
    if (!listener.routed.includes(resource)) this.#removeFrom(resource, listener)
  }

  remove(listener: T): void {
    for (const resource of listener.routed) this.#removeFrom(resource, listener)
    for (const resource of listener.memberIds ?? []) this.#removeFrom(resource, listener)
    listener.routed = NOWHERE
  }

  #removeFrom(resource: string, listener: T): void {
    if (this.#waiting.get(resource) === listener) this.#waiting.delete(resource)
    const source = this.#sources.get(resource)
    if (source === undefined) return
    source.listeners.delete(listener)
    source.changed()
    if (source.listeners.size === 0) this.#sources.delete(resource)
  }

  changed(listener: T): void {
    for (const resource of listener.routed) this.#sources.get(resource)?.changed()
    for (const resource of listener.memberIds ?? []) this.#sources.get(resource)?.changed()
  }

  clear(): void {
    this.#waiting.clear()
    for (const { listeners } of this.#sources.values()) for (const listener of listeners) this.remove(listener)
  }
}
