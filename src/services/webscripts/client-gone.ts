/** Tells that a client went away before it had its answer. */
import type { ServerResponse } from 'node:http'
import type { CancelSignal } from '#kernel'

/** It listens to the response only while somebody listens to it. */
export class ClientGone implements CancelSignal {
  readonly #response: ServerResponse
  readonly #listeners = new Map<() => void, () => void>()

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get aborted(): boolean {
    return this.#response.destroyed && !this.#response.writableFinished
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    const heard = (): void => {
      if (!this.#response.writableFinished) listener()
    }
    this.#listeners.set(listener, heard)
    this.#response.once('close', heard)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const heard = this.#listeners.get(listener)
    if (heard !== undefined) this.#response.off('close', heard)
    this.#listeners.delete(listener)
  }
}
