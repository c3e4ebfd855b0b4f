/**
 * The time of a host: that of the wall clock, but it never goes back. Where somebody sets the wall clock back, it goes on
 * with the monotonic clock, a tenth slower until the wall clock has come up with it; where it is set forward, or the
 * machine slept, it follows at once.
 *
 * HOSTCLOCK-1 it never goes back
 * HOSTCLOCK-2 while the wall clock is behind, it passes at least nine tenths of the time that passes
 * HOSTCLOCK-3 it is never behind the wall clock
 */
import type { Logger } from '../kernel/logger.ts'

export interface Clocks {
  /** epoch ms, as somebody may set it */
  readonly wall: () => number
  /** ms since some moment; never goes back */
  readonly monotonic: () => number
}

/** ms by which the two clocks may part before it is told */
const JUMP_MS = 1000
/** of the time that passes while the wall clock is behind */
const PACE = 0.9

export class HostClock {
  readonly #clocks: Clocks
  readonly #logger: Logger | undefined
  #time: number
  #wall: number
  #monotonic: number

  constructor(logger?: Logger, clocks: Clocks = { wall: Date.now, monotonic: () => performance.now() }) {
    this.#clocks = clocks
    this.#logger = logger
    this.#wall = clocks.wall()
    this.#time = this.#wall
    this.#monotonic = clocks.monotonic()
  }

  /** epoch ms */
  readonly now = (): number => {
    const wall = this.#clocks.wall()
    const monotonic = this.#clocks.monotonic()
    const passed = monotonic - this.#monotonic
    const jump = wall - this.#wall - passed
    this.#wall = wall
    this.#monotonic = monotonic
    this.#time = Math.max(wall, this.#time + passed * PACE)
    if (Math.abs(jump) >= JUMP_MS) this.#tell(jump)
    return Math.floor(this.#time)
  }

  /** What is stored was done at `time`, epoch ms: it is not earlier now, although the wall clock may say so. */
  readonly atLeast = (time: number): void => {
    const behind = time - this.now()
    if (behind <= 0) return
    this.#time = time
    if (behind < JUMP_MS) return
    const text = `what is stored is ${Math.round(behind / 1000)} s ahead of the clock of the machine: this host's time goes on from there, and is a tenth slower until both are the same`
    this.#logger?.warn(text)
  }

  #tell(jump: number): void {
    const seconds = Math.round(Math.abs(jump) / 1000)
    const ahead = Math.round((this.#time - this.#wall) / 1000)
    const text =
      jump < 0
        ? `the clock of the machine was set back by ${seconds} s: this host's time goes on, now ${ahead} s ahead of it, and is a tenth slower until both are the same`
        : `the clock of the machine went forward by ${seconds} s, or the machine slept: what was due meanwhile follows each task's \`misfire\``
    this.#logger?.warn(text)
  }
}
