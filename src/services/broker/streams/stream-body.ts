/** The body of a streamed response: server-sent events, or lines of JSON. */
import { Readable } from 'node:stream'
import type { StreamApi } from '../contract.ts'
import { type Form, type Frames, gapIn } from './frames.ts'
import type { OpenStream, OpenStreams, Pulse } from './open-streams.ts'

export interface BodyDependencies {
  readonly reader: ReturnType<StreamApi['subscribe']>
  readonly form: Form
  readonly frames: Frames
  readonly open: OpenStreams
  /** whether the reader resumes with an id from another process */
  readonly isForeign: boolean
  begun(): void
}

/** Reads the feed only while the client reads. Reports messages that the feed drops meanwhile. */
export class StreamBody extends Readable implements OpenStream {
  readonly #dependencies: BodyDependencies
  #hasBegun = false
  #isReading = false
  readonly #pulse: Pulse

  constructor(dependencies: BodyDependencies) {
    super({ highWaterMark: 65_536 })
    this.#dependencies = dependencies
    this.#pulse = dependencies.open.add(this)
    const { reader, form, isForeign } = dependencies
    // sent at once, so that the client knows that it is connected
    if (form === 'event') this.push(': here\n\n')
    const gap = reader.missed || isForeign ? gapIn(form) : undefined
    if (gap !== undefined) this.push(gap)
  }

  beat(): void {
    const { reader, form, frames } = this.#dependencies
    if (!this.destroyed) this.push(frames.beat(form, reader.passed))
  }

  giveUp(): void {
    this.destroy()
  }

  override _read(): void {
    this.#pulse.isStuck = false
    if (!this.#hasBegun) {
      this.#hasBegun = true
      // readers of lines would otherwise see nothing before the first line
      this.#dependencies.begun()
    }
    if (this.#isReading) return
    this.#isReading = true
    void this.#next()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#dependencies.open.delete(this)
    void this.#dependencies.reader.return?.()
    done(error)
  }

  async #next(): Promise<void> {
    const { reader, frames, form, open } = this.#dependencies
    const next = await reader.next()
    if (next.done === true) return void this.push(null)
    open.soon(() => {
      this.#isReading = false
      if (this.destroyed) return
      this.#pulse.isActive = true
      const dropped = reader.takeDropped()
      if (dropped > 0) this.push(form === 'event' ? `event: dropped\ndata: ${dropped}\n\n` : `{"dropped":${dropped}}\n`)
      this.#pulse.isStuck = !this.push(frames.of(next.value, form))
    })
  }
}
