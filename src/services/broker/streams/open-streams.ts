/** Manages open streams: heartbeats, stuck readers, and fair writes to many readers. */
import { Yielder } from '#kernel'
import { machineTimers } from '#platform'

export interface OpenStream {
  beat(): void
  giveUp(): void
}

export interface Pulse {
  isActive: boolean
  isStuck: boolean
  /** consecutive ticks without a message, and with a stuck reader */
  quiet: number
  stuck: number
}

export const TICK_MS = 1_000
/** ticks without a message before a heartbeat */
const QUIET = 60
/** ticks after which a stuck reader is disconnected */
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

  soon(work: () => void): void {
    this.#turns.soon(work)
  }
}
