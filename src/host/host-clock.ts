/**
 * Keeps the time of a host, which never goes backwards. It follows the wall clock while that is credible. If the wall
 * clock is set back, the host follows the monotonic clock, a tenth slower, until the wall clock has caught up. If it
 * steps forward by more than a minute, as after the machine slept, the host waits until another clock confirms the
 * step.
 *
 * HOSTCLOCK-1 the host's time never goes back, unless the operator makes it follow the wall clock
 * HOSTCLOCK-2 while the wall clock is behind, the host's time advances by at least nine tenths of the elapsed time
 * HOSTCLOCK-3 the host lags behind the wall clock only by unconfirmed steps of more than a minute
 * HOSTCLOCK-4 a step is confirmed by the database's clock in a cluster, otherwise by lasting ten seconds on the
 *   monotonic clock
 * HOSTCLOCK-5 stored times advance the host's time to at most a minute ahead of the wall clock
 */
import type { Logger } from '#kernel'

export interface Clocks {
  /** Returns epoch ms from the machine's adjustable clock */
  readonly wall: () => number
  readonly monotonic: () => number
}

export type Confirmation = 'monotonic' | 'database'

/** Clock difference that is logged, in ms */
const JUMP_MS = 1000
export const PACE = 0.9
/** Largest forward step accepted at once, and how far stored times may run ahead, in ms */
export const MAX_LEAD_MS = 60_000
/** Monotonic ms after which a larger step counts as confirmed */
export const CONFIRM_MS = 10_000

export class HostClock {
  readonly #clocks: Clocks
  readonly #logger: Logger | undefined
  readonly #confirmation: Confirmation
  #time: number
  #wall: number
  #monotonic: number
  /** Sum of unconfirmed forward steps, in ms */
  #unconfirmed = 0
  #steppedAt = 0

  constructor(
    logger?: Logger,
    clocks: Clocks = { wall: Date.now, monotonic: () => performance.now() },
    confirmation: Confirmation = 'monotonic',
  ) {
    this.#clocks = clocks
    this.#logger = logger
    this.#confirmation = confirmation
    this.#wall = clocks.wall()
    this.#time = this.#wall
    this.#monotonic = clocks.monotonic()
  }

  readonly now = (): number => {
    const wall = this.#clocks.wall()
    const monotonic = this.#clocks.monotonic()
    const passed = monotonic - this.#monotonic
    const jump = wall - this.#wall - passed
    this.#wall = wall
    this.#monotonic = monotonic
    if (Math.abs(jump) >= JUMP_MS) this.#stepped(jump)
    const isLasting = monotonic - this.#steppedAt >= CONFIRM_MS
    if (this.#unconfirmed > 0 && this.#confirmation === 'monotonic' && isLasting) this.#confirmed()
    this.#time = Math.max(wall - this.#unconfirmed, this.#time + passed * PACE)
    if (jump <= -JUMP_MS && this.leadMs >= JUMP_MS) this.#tellLead(jump)
    return Math.floor(this.#time)
  }

  /** Advances the clock to a stored time in epoch ms, at most to a minute ahead of the wall clock. */
  readonly atLeast = (time: number): void => {
    const behind = time - this.now()
    if (behind <= 0) return
    const most = this.#wall - this.#unconfirmed + MAX_LEAD_MS
    this.#time = Math.max(this.#time, Math.min(time, most))
    if (behind < JUMP_MS) return
    const what =
      time > most
        ? `the time of this host is at most ${MAX_LEAD_MS / 1000} s ahead, and the affected tasks use separate clocks`
        : 'the time of this host continues from there, and runs a tenth slower until both agree'
    this.#logger?.warn(`stored times are ${seconds(behind)} s ahead of the clock of the machine: ${what}`)
  }

  /** Compares the host's time with the database's clock, in epoch ms. */
  readonly compared = (database: number): void => {
    this.now()
    if (this.#unconfirmed > 0 && Math.abs(this.#wall - database) <= MAX_LEAD_MS) this.#confirmed()
  }

  /** Sets the time to the wall clock, even backwards. Returns the change in ms. */
  readonly follow = (): number => {
    const before = this.now()
    this.#unconfirmed = 0
    this.#time = this.#wall
    const change = this.#wall - before
    this.#logger?.warn(
      `an operator set the time of this host to the clock of the machine: it moved ${change < 0 ? 'back' : 'forward'} by ${seconds(change)} s`,
    )
    return change
  }

  /** How far this clock is ahead of the last observed wall clock, in ms. */
  get leadMs(): number {
    return Math.max(0, this.#time - (this.#wall - this.#unconfirmed))
  }

  /** How far this clock is behind the wall clock because of unconfirmed steps, in ms. */
  get unconfirmedMs(): number {
    return this.#unconfirmed
  }

  warnings(): readonly string[] {
    this.now()
    const problems: string[] = []
    if (this.leadMs >= JUMP_MS) {
      problems.push(
        `the time of this host is ${seconds(this.leadMs)} s ahead of the clock of the machine; it runs a tenth slower until both agree, or follows at once with reflexarc clock --follow`,
      )
    }
    if (this.#unconfirmed > 0) {
      problems.push(
        `the clock of the machine moved forward by ${seconds(this.#unconfirmed)} s, which ${this.#witness} has not confirmed: this host does not follow it; correct the clock, or run reflexarc clock --follow`,
      )
    }
    return problems
  }

  get #witness(): string {
    return this.#confirmation === 'database' ? 'the clock of the database' : `a wait of ${CONFIRM_MS / 1000} s`
  }

  #stepped(jump: number): void {
    if (jump > MAX_LEAD_MS) {
      this.#unconfirmed += jump
      this.#steppedAt = this.#monotonic
      this.#logger?.warn(
        `the clock of the machine moved forward by ${seconds(jump)} s, or the machine slept: this host follows once ${this.#witness} has confirmed it`,
      )
    } else if (jump > 0) this.#tellForward(jump)
    // the clock was stepped back: reduce the unconfirmed step
    else this.#unconfirmed = Math.max(0, this.#unconfirmed + jump)
  }

  #confirmed(): void {
    const step = this.#unconfirmed
    this.#unconfirmed = 0
    this.#tellForward(step)
  }

  #tellForward(step: number): void {
    this.#logger?.warn(
      `the clock of the machine moved forward by ${seconds(step)} s, or the machine slept: \`misfire\` of each task determines what happens to missed ticks`,
    )
  }

  #tellLead(jump: number): void {
    this.#logger?.warn(
      `the clock of the machine was set back by ${seconds(jump)} s: the time of this host continues, now ${seconds(this.leadMs)} s ahead, and runs a tenth slower until both agree`,
    )
  }
}

function seconds(ms: number): number {
  return Math.round(Math.abs(ms) / 1000)
}
