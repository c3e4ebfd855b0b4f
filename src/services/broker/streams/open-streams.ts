/**
 * Manages open streams: sends heartbeats on idle streams, disconnects stuck readers, and schedules writes to many
 * readers fairly.
 */
import { Yielder } from '#kernel'
import { machineTimers } from '#platform'

export interface OpenStream {
  /** Sends an empty object as a heartbeat. */
  beat(): void
  /** Called when the reader has not read for too long. */
  giveUp(): void
}

export interface Pulse {
  /** whether a message was sent since the last tick */
  isActive: boolean
  /** whether bytes wait for the reader */
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

  /** Call every `TICK_MS`. */
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

  /** Schedules work in one of the next turns of the event loop, in order. */
  soon(work: () => void): void {
    this.#turns.soon(work)
  }
}
