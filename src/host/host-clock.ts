/**
 * The time of a host: that of the wall clock, as far as that can be believed, but it never goes back. Where somebody sets
 * the wall clock back, it goes on with the monotonic clock, a tenth slower until the wall clock has come up with it. Where
 * the wall clock is set forward by more than a minute, or the machine slept as long, it follows when another clock has
 * confirmed that: a wall clock that is wrong for seconds changes nothing.
 *
 * HOSTCLOCK-1 it never goes back, unless the operator has it follow the wall clock
 * HOSTCLOCK-2 while the wall clock is behind, it passes at least nine tenths of the time that passes
 * HOSTCLOCK-3 it is behind the wall clock only by steps of more than a minute that are not confirmed
 * HOSTCLOCK-4 a step is confirmed by the clock of the database in a cluster, else by lasting for ten seconds of the monotonic
 *   clock
 * HOSTCLOCK-5 what is stored takes it at most a minute ahead of the wall clock
 */
import type { Logger } from '#kernel'

export interface Clocks {
  /** epoch ms, as somebody may set it */
  readonly wall: () => number
  /** ms since some moment; never goes back */
  readonly monotonic: () => number
}

/** What has to agree with a step of the wall clock. */
export type Confirmation = 'monotonic' | 'database'

/** ms by which the two clocks may part before it is told */
const JUMP_MS = 1000
/** of the time that passes while the wall clock is behind */
export const PACE = 0.9
/** ms by which the wall clock may step forward, and what is stored may be ahead of it */
export const MAX_LEAD_MS = 60_000
/** ms of the monotonic clock for which a larger step has to last */
export const CONFIRM_MS = 10_000

export class HostClock {
  readonly #clocks: Clocks
  readonly #logger: Logger | undefined
  readonly #confirmation: Confirmation
  #time: number
  #wall: number
  #monotonic: number
  /** ms of steps forward that nothing has confirmed yet */
  #unconfirmed = 0
  /** `monotonic` of the last of them */
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

  /** epoch ms */
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

  /** What is stored was done at `time`, epoch ms: it is not earlier now, but for what is more than a minute ahead. */
  readonly atLeast = (time: number): void => {
    const behind = time - this.now()
    if (behind <= 0) return
    const most = this.#wall - this.#unconfirmed + MAX_LEAD_MS
    this.#time = Math.max(this.#time, Math.min(time, most))
    if (behind < JUMP_MS) return
    const what =
      time > most
        ? `this host's time goes on at most ${MAX_LEAD_MS / 1000} s ahead, and the tasks of which it is by a clock of their own`
        : "this host's time goes on from there, and is a tenth slower until both are the same"
    this.#logger?.warn(`what is stored is ${seconds(behind)} s ahead of the clock of the machine: ${what}`)
  }

  /** The clock of the database says so, epoch ms. */
  readonly compared = (database: number): void => {
    this.now()
    if (this.#unconfirmed > 0 && Math.abs(this.#wall - database) <= MAX_LEAD_MS) this.#confirmed()
  }

  /** From now on it is what the wall clock says, also where it goes back for that. Gives by how many ms it changed. */
  readonly follow = (): number => {
    const before = this.now()
    this.#unconfirmed = 0
    this.#time = this.#wall
    const change = this.#wall - before
    this.#logger?.warn(
      `the operator has this host follow the clock of the machine: its time went ${change < 0 ? 'back' : 'forward'} by ${seconds(change)} s`,
    )
    return change
  }

  /** ms by which it is ahead of the wall clock, as that was looked at last. */
  get leadMs(): number {
    return Math.max(0, this.#time - (this.#wall - this.#unconfirmed))
  }

  /** ms by which it does not follow the wall clock. */
  get unconfirmedMs(): number {
    return this.#unconfirmed
  }

  /** What somebody should mend while it works: a sentence each. */
  warnings(): readonly string[] {
    this.now()
    const told: string[] = []
    if (this.leadMs >= JUMP_MS) {
      told.push(
        `this host's time is ${seconds(this.leadMs)} s ahead of the clock of the machine; it loses a tenth of the time that passes until both are the same, or all at once by reflexarc clock --follow`,
      )
    }
    if (this.#unconfirmed > 0) {
      told.push(
        `the clock of the machine went forward by ${seconds(this.#unconfirmed)} s, which ${this.#witness} has not confirmed: this host does not follow it; set the clock right, or say reflexarc clock --follow`,
      )
    }
    return told
  }

  get #witness(): string {
    return this.#confirmation === 'database' ? 'the clock of the database' : `a wait of ${CONFIRM_MS / 1000} s`
  }

  #stepped(jump: number): void {
    if (jump > MAX_LEAD_MS) {
      this.#unconfirmed += jump
      this.#steppedAt = this.#monotonic
      this.#logger?.warn(
        `the clock of the machine went forward by ${seconds(jump)} s, or the machine slept: this host follows when ${this.#witness} has confirmed it`,
      )
    } else if (jump > 0) this.#tellForward(jump)
    // a step that is taken back was none
    else this.#unconfirmed = Math.max(0, this.#unconfirmed + jump)
  }

  #confirmed(): void {
    const step = this.#unconfirmed
    this.#unconfirmed = 0
    this.#tellForward(step)
  }

  #tellForward(step: number): void {
    this.#logger?.warn(
      `the clock of the machine went forward by ${seconds(step)} s, or the machine slept: what was due meanwhile follows each task's \`misfire\``,
    )
  }

  #tellLead(jump: number): void {
    this.#logger?.warn(
      `the clock of the machine was set back by ${seconds(jump)} s: this host's time goes on, now ${seconds(this.leadMs)} s ahead of it, and is a tenth slower until both are the same`,
    )
  }
}

function seconds(ms: number): number {
  return Math.round(Math.abs(ms) / 1000)
}
