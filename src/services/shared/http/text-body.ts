/** The body of an answer that goes on: texts as they come, made once for all who read them. */
import { Readable } from 'node:stream'
import type { Yielder } from '#kernel'

export interface TextBodyOptions<T> {
  readonly values: AsyncIterable<T>
  textOf(value: T): string
  /** shared by all bodies of what many read at once */
  readonly turns: Pick<Yielder, 'soon'>
  /** sent at once */
  readonly first?: string | undefined
  /** sent when nothing came for a while */
  readonly quiet: string
  /** ms after which that is */
  readonly quietMs: number
  /** before the first text, when the head of the answer is complete */
  begun(): void
}

/** Asks for the next value only while its own reader takes what there is. */
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
    // who has not taken the last text knows that the stream is there
    if (this.readableLength === 0) this.push(this.#parts.quiet)
    this.#quiet.refresh()
  }
}
