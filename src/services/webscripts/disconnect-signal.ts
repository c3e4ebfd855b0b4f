/** Signals that a client disconnected before its response was complete. */
import type { ServerResponse } from 'node:http'
import type { CancelSignal } from '#kernel'

/** Listens to the response only while it has listeners itself. */
export class DisconnectSignal implements CancelSignal {
  readonly #response: ServerResponse
  readonly #listeners = new Map<() => void, () => void>()

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get aborted(): boolean {
    return this.#response.destroyed && !this.#response.writableFinished
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    const onClose = (): void => {
      if (!this.#response.writableFinished) listener()
    }
    this.#listeners.set(listener, onClose)
    this.#response.once('close', onClose)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const onClose = this.#listeners.get(listener)
    if (onClose !== undefined) this.#response.off('close', onClose)
    this.#listeners.delete(listener)
  }
}
