/**
 * Streams that are open: who is quiet gets a sign of life, who is stuck is let go, and writes to very many take turns
 * with everything else.
 */
import { Yielder } from '#kernel'
import { machineTimers } from '#platform'

/** One reader's end of a stream. */
export interface OpenStream {
  /** whether something was sent since the last tick; resets it */
  takeActive(): boolean
  /** whether bytes wait that the reader does not take */
  readonly isStuck: boolean
  /** An empty object, so that the reader knows that the stream is there. */
  beat(): void
  /** The reader takes nothing for too long. */
  giveUp(): void
}

/** ms between two ticks */
export const TICK_MS = 1_000
/** ticks of silence until a sign of life */
const QUIET = 60
/** ticks until a stuck reader is let go */
const STUCK = 60

interface Ticks {
  quiet: number
  stuck: number
}

export class OpenStreams {
  readonly #open = new Map<OpenStream, Ticks>()
  readonly #turns = new Yielder(machineTimers)

  get size(): number {
    return this.#open.size
  }

  add(stream: OpenStream): void {
    this.#open.set(stream, { quiet: 0, stuck: 0 })
  }

  delete(stream: OpenStream): void {
    this.#open.delete(stream)
  }

  /** To be called every `TICK_MS`. */
  tick(): void {
    for (const [stream, ticks] of this.#open) {
      ticks.quiet = stream.takeActive() ? 0 : ticks.quiet + 1
      ticks.stuck = stream.isStuck ? ticks.stuck + 1 : 0
      if (ticks.stuck >= STUCK) {
        this.#open.delete(stream)
        stream.giveUp()
      } else if (ticks.quiet >= QUIET && !stream.isStuck) {
        ticks.quiet = 0
        this.soon(() => stream.beat())
      }
    }
  }

  /** Does it in one of the next turns of the loop, in the order of the calls. */
  soon(work: () => void): void {
    this.#turns.soon(work)
  }
}
