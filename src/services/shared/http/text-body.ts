/** Body of a streamed response, made of texts that all readers share. */
import { Readable } from 'node:stream'
import type { Yielder } from '#kernel'

export interface TextBodyOptions<T> {
  readonly values: AsyncIterable<T>
  textOf(value: T): string
  readonly turns: Pick<Yielder, 'soon'>
  /** sent at once */
  readonly first?: string | undefined
  readonly quiet: string
  /** ms between heartbeats */
  readonly quietMs: number
  /** Called before the first text, when the response headers are complete. */
  begun(): void
}

/** A body that requests the next value only while its reader accepts data. */
export class TextBody<T> extends Readable {
  readonly #parts: TextBodyOptions<T>
  readonly #values: AsyncIterator<T>
  readonly #quiet: ReturnType<typeof setTimeout>
  #hasBegun = false
  #isReading = false

  constructor(parts: TextBodyOptions<T>) {
    super({ highWaterMark: 65_536 })
    this.#parts = parts
    this.#values = parts.values[Symbol.asyncIterator]()
    this.#quiet = setTimeout(() => this.#stillHere(), parts.quietMs)
    if (parts.first !== undefined) this.push(parts.first)
  }

  override _read(): void {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      this.#parts.begun()
    }
    if (this.#isReading) return
    this.#isReading = true
    void this.#next()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#quiet)
    void this.#values.return?.()
    done(error)
  }

  async #next(): Promise<void> {
    try {
      const next = await this.#values.next()
      if (next.done === true) return void this.push(null)
      const { turns, textOf } = this.#parts
      turns.soon(() => {
        this.#isReading = false
        if (this.destroyed) return
        this.#quiet.refresh()
        this.push(textOf(next.value))
      })
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #stillHere(): void {
    if (this.destroyed) return
    // skip the heartbeat while text is pending
    if (this.readableLength === 0) this.push(this.#parts.quiet)
    this.#quiet.refresh()
  }
}
