/**
 * Streams that are open: who is quiet gets a sign of life, who is stuck is let go, and writes to very many take turns
 * with everything else.
 */
import { Yielder } from '#kernel'
import { machineTimers } from '#platform'

/** One reader's end of a stream. */
export interface OpenStream {
  /** An empty object, so that the reader knows that the stream is there. */
  beat(): void
  /** The reader takes nothing for too long. */
  giveUp(): void
}

/** What a stream says of itself. */
export interface Pulse {
  /** something was sent since the last tick */
  isActive: boolean
  /** bytes wait that the reader does not take */
  isStuck: boolean
  /** ticks so far */
  quiet: number
  stuck: number
}

/** ms between two ticks */
export const TICK_MS = 1_000
/** ticks of silence until a sign of life */
const QUIET = 60
/** ticks until a stuck reader is let go */
const STUCK = 60

export class OpenStreams {
  readonly #open = new Map<OpenStream, Pulse>()
  readonly #turns = new Yielder(machineTimers)

  add(stream: OpenStream): Pulse {
    const pulse = { isActive: false, isStuck: false, quiet: 0, stuck: 0 }
    this.#open.set(stream, pulse)
    return pulse
  }

  delete(stream: OpenStream): void {
    this.#open.delete(stream)
  }

  /** To be called every `TICK_MS`. */
  tick(): void {
    for (const [stream, pulse] of this.#open) {
      pulse.quiet = pulse.isActive ? 0 : pulse.quiet + 1
      pulse.stuck = pulse.isStuck ? pulse.stuck + 1 : 0
      pulse.isActive = false
      if (pulse.stuck >= STUCK) {
        this.#open.delete(stream)
        stream.giveUp()
      } else if (pulse.quiet >= QUIET && !pulse.isStuck) {
        pulse.quiet = 0
        this.soon(() => stream.beat())
      }
    }
  }

  /** Does it in one of the next turns of the loop, in the order of the calls. */
  soon(work: () => void): void {
    this.#turns.soon(work)
  }
}
