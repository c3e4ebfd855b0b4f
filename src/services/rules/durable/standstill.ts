/**
 * Whether the store stands still, and since when. Calls are begun when their message is durable, and what they say has to
 * be durable too: time in which the store says nothing must not count for their limits. What is to be left out becomes an
 * input (`still`), so that a replay leaves out the same.
 *
 * STILL-1 a call has no more than all of its time, from whatever is left out on
 * STILL-2 no limit passes, while calls are open, before the store has said something lately
 */

/** ms of waiting for the store that count for limits as usual */
const LATE_MS = 1000
/** ms after which a store that was asked nothing may stand still unnoticed */
const QUIET_MS = 5000
/** ms after which a store is asked again that could not be asked */
const ASK_AGAIN_MS = 250

/** All times are epoch ms. */
export class Standstill {
  /** when the store last did something */
  #heardAt: number
  /** what came before is left out, or counts */
  #countedUpTo = Number.NEGATIVE_INFINITY
  #since: number | undefined
  /** the same of what is being left out: the input that does so may be refused */
  #leavingOut: number | undefined
  #askedAt: number | undefined
  /** it was away since it last did something */
  #isAway = false
  /** not before that it is asked again */
  askAgainAt = Number.NEGATIVE_INFINITY

  constructor(now: number) {
    this.#heardAt = now
  }

  /** From when on time is to be left out; undefined when it counts. */
  get since(): number | undefined {
    return this.#since
  }

  /**
   * The same, for who brings an input while others are on their way, the oldest of them taken at `oldest`. Each of those
   * who come says so again, since any of them may be refused.
   */
  sinceBefore(at: number, oldest: number): number | undefined {
    const silent = this.#wasSilent(at) ? this.#silentSince : Number.POSITIVE_INFINITY
    const never = Number.POSITIVE_INFINITY
    const since = Math.min(this.#since ?? never, this.#leavingOut ?? never, oldest, silent)
    // a store that has not said yet whether it is there may not be: a limit may pass just then
    const late = this.#askedAt === undefined ? LATE_MS : 0
    return at - since > late ? since : undefined
  }

  /** Whether the store may stand still without anybody having noticed. */
  isQuiet(now: number): boolean {
    return now - this.#heardAt > QUIET_MS
  }

  /** It is asked for a sign of life. */
  ask(now: number): void {
    this.#askedAt ??= now
  }

  /** It could not be asked. */
  refused(now: number): void {
    this.askAgainAt = now + ASK_AGAIN_MS
    this.away()
  }

  /** It refused something because it is away. */
  away(): void {
    this.#isAway = true
  }

  /** What it was given at `at` is durable. */
  heard(at: number, now: number): void {
    const since = Math.max(this.#wasSilent(now) ? this.#silentSince : at, this.#countedUpTo)
    if (now - since > LATE_MS) this.#since ??= since
    this.#askedAt = undefined
    this.#isAway = false
    this.#heardAt = Math.max(this.#heardAt, now)
  }

  /** Nobody knows since when it has been away: from when it last did something, at the earliest. */
  get #silentSince(): number {
    return Math.max(this.#heardAt, this.#countedUpTo)
  }

  #wasSilent(now: number): boolean {
    return this.#isAway || (this.#askedAt !== undefined && now - this.#askedAt > LATE_MS)
  }

  /** All until then is left out, or counts, or a jump has seen to it; `from`: what came before that is not. */
  counted(upTo: number, from = Number.NEGATIVE_INFINITY): void {
    this.#countedUpTo = Math.max(this.#countedUpTo, upTo)
    if (this.#since !== undefined && this.#since >= from) this.#since = undefined
    if (this.#leavingOut !== undefined && this.#leavingOut >= from) this.#leavingOut = undefined
  }

  /** What leaves it out, from then on, is on its way. */
  leavesOut(since: number): void {
    this.#leavingOut = since
  }

  /** What was to be left out could not be stored. */
  lost(since: number, now: number): void {
    this.#since = Math.min(this.#since ?? since, since)
    this.#leavingOut = undefined
    this.askAgainAt = now + ASK_AGAIN_MS
  }
}
