/**
 * Detector of an unresponsive store. Calls begin when their message is durable, and their outcome has to become durable
 * too: time during which the store is unresponsive does not count toward call deadlines. The time to leave out becomes
 * an input (`still`), so that a replay leaves out the same.
 *
 * STILL-1 a call has all of its time after the time that is left out
 * STILL-2 no deadline passes, while calls are open, without a recent sign of life of the store
 */

/** ms of waiting for the store that count toward deadlines */
const LATE_MS = 1000
/** ms after which an idle store may be unresponsive unnoticed */
const QUIET_MS = 5000
/** ms until the store is queried again after a refusal */
const QUERY_AGAIN_MS = 250

/** Times are epoch ms. */
export class StallDetector {
  #lastSign: number
  /** earlier time is left out already, or counts */
  #countedUpTo = Number.NEGATIVE_INFINITY
  #since: number | undefined
  /** start of the time that an input on its way leaves out; that input may be refused */
  #leavingOut: number | undefined
  #queriedAt: number | undefined
  #isAway = false
  queryAgainAt = Number.NEGATIVE_INFINITY

  constructor(now: number) {
    this.#lastSign = now
  }

  /** Start of the time to leave out; undefined: time counts. */
  get since(): number | undefined {
    return this.#since
  }

  /**
   * The same for an input that arrives while others are on their way, the oldest since `oldest`. Each input repeats it,
   * since any of them may be refused.
   */
  sinceBefore(at: number, oldest: number): number | undefined {
    const silent = this.#wasSilent(at) ? this.#silentSince : Number.POSITIVE_INFINITY
    const never = Number.POSITIVE_INFINITY
    const since = Math.min(this.#since ?? never, this.#leavingOut ?? never, oldest, silent)
    // while a query is unanswered, a deadline may pass any moment
    const late = this.#queriedAt === undefined ? LATE_MS : 0
    return at - since > late ? since : undefined
  }

  isQuiet(now: number): boolean {
    return now - this.#lastSign > QUIET_MS
  }

  queried(now: number): void {
    this.#queriedAt ??= now
  }

  refused(now: number): void {
    this.queryAgainAt = now + QUERY_AGAIN_MS
    this.away()
  }

  away(): void {
    this.#isAway = true
  }

  /** A write requested at `at` is durable. */
  responded(at: number, now: number): void {
    const since = Math.max(this.#wasSilent(now) ? this.#silentSince : at, this.#countedUpTo)
    if (now - since > LATE_MS) this.#since ??= since
    this.#queriedAt = undefined
    this.#isAway = false
    this.#lastSign = Math.max(this.#lastSign, now)
  }

  get #silentSince(): number {
    return Math.max(this.#lastSign, this.#countedUpTo)
  }

  #wasSilent(now: number): boolean {
    return this.#isAway || (this.#queriedAt !== undefined && now - this.#queriedAt > LATE_MS)
  }

  /** Time until then is left out, or counts; `from`: earlier time does not. */
  counted(upTo: number, from = Number.NEGATIVE_INFINITY): void {
    this.#countedUpTo = Math.max(this.#countedUpTo, upTo)
    if (this.#since !== undefined && this.#since >= from) this.#since = undefined
    if (this.#leavingOut !== undefined && this.#leavingOut >= from) this.#leavingOut = undefined
  }

  leavesOut(since: number): void {
    this.#leavingOut = since
  }

  /** The input that leaves out time from `since` on was refused. */
  lost(since: number, now: number): void {
    this.#since = Math.min(this.#since ?? since, since)
    this.#leavingOut = undefined
    this.queryAgainAt = now + QUERY_AGAIN_MS
  }
}
