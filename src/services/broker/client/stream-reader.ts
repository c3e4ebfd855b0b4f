/** A stream of the wire in the form of a feed's reader. */
import type { StreamApi, StreamedMessage } from '../contract.ts'

/** What comes over the wire: a message, or how many were lost. */
export type Streamed = { readonly published: StreamedMessage } | { readonly dropped: number }

type Reader = ReturnType<StreamApi['subscribe']>

/** Connects when it is asked for the first value; refusals are thrown there. */
export class StreamReader implements Reader {
  /** numbers of the wire cannot be asked for again through this reader */
  readonly missed = false
  readonly #ending = new AbortController()
  readonly #values: AsyncGenerator<Streamed>
  #dropped = 0

  constructor(signal: AbortSignal, open: (ended: AbortSignal) => AsyncGenerator<Streamed>) {
    this.#values = open(AbortSignal.any([signal, this.#ending.signal]))
  }

  takeDropped(): number {
    const count = this.#dropped
    this.#dropped = 0
    return count
  }

  async next(): Promise<IteratorResult<StreamedMessage, undefined>> {
    for (;;) {
      const next = await this.#nextOrEnd()
      if (next.done === true) return { done: true, value: undefined }
      if ('published' in next.value) return { done: false, value: next.value.published }
      this.#dropped += next.value.dropped
    }
  }

  async return(): Promise<IteratorResult<StreamedMessage, undefined>> {
    this.#ending.abort()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async #nextOrEnd(): Promise<IteratorResult<Streamed>> {
    try {
      return await this.#values.next()
    } catch (error) {
      if (this.#ending.signal.aborted || isAbort(error)) return { done: true, value: undefined }
      throw error
    }
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
