/** Stores the listeners of a resource in order of arrival, without a set in the usual case of a single listener. */
import type { Message } from '../task/origin.ts'
import type { ListenersOf, MessageListener } from './executor.ts'

export function receiveAll(listeners: Listeners<MessageListener>, message: Message, now: number): void {
  const { only } = listeners
  if (only !== undefined) only.receive(now, [message])
  else for (const listener of listeners) listener.receive(now, [message])
}

export class Listeners<L> implements ListenersOf<L> {
  #only: L | undefined
  #several: Set<L> | undefined

  get size(): number {
    return this.#several?.size ?? (this.#only === undefined ? 0 : 1)
  }

  /** Returns the only listener, faster than a loop; undefined when there are several, or were at some time. */
  get only(): L | undefined {
    return this.#only
  }

  add(listener: L): void {
    if (this.#several !== undefined) this.#several.add(listener)
    else if (this.#only === undefined) this.#only = listener
    else if (this.#only !== listener) {
      this.#several = new Set([this.#only, listener])
      this.#only = undefined
    }
  }

  delete(listener: L): void {
    if (this.#several !== undefined) this.#several.delete(listener)
    else if (this.#only === listener) this.#only = undefined
  }

  [Symbol.iterator](): Iterator<L> {
    if (this.#several !== undefined) return this.#several.values()
    return (this.#only === undefined ? [] : [this.#only]).values()
  }
}
