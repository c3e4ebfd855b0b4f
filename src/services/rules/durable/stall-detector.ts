/**
 * Detects an unresponsive store; that time is logged (`still`) and left out of call deadlines, also in a replay.
 *
 * STILL-1 a call has its full time after a period that is left out
 * STILL-2 while calls are open, no deadline passes without a recent sign of life from the store
 */

/** ms of waiting for the store that still count toward deadlines */
const LATE_MS = 1000
/** ms after which an idle store may have stopped responding unnoticed */
const QUIET_MS = 5000
/** ms before the store is queried again after a refusal */
const QUERY_AGAIN_MS = 250

/** Times are epoch ms. */
export class StallDetector {
  #lastSign: number
  /** time before this is already left out, or counts toward deadlines */
  #countedUpTo = Number.NEGATIVE_INFINITY
  #since: number | undefined
  /** start of the period left out by an input that is not durable yet and may be refused */
  #leavingOut: number | undefined
  #queriedAt: number | undefined
  #isAway = false
  queryAgainAt = Number.NEGATIVE_INFINITY

  constructor(now: number) {
    this.#lastSign = now
  }

  /** Start of the period to leave out; undefined if all time counts. */
  get since(): number | undefined {
    return this.#since
  }

  /** Each input in flight repeats the period, because any of them may be refused. */
  sinceBefore(at: number, oldest: number): number | undefined {
    const silent = this.#wasSilent(at) ? this.#silentSince : Number.POSITIVE_INFINITY
    const never = Number.POSITIVE_INFINITY
    const since = Math.min(this.#since ?? never, this.#leavingOut ?? never, oldest, silent)
    // while a query is unanswered, a deadline may pass at any moment
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

  /** Marks the time from `from` up to `upTo` as settled: it is left out, or it counts. */
  counted(upTo: number, from = Number.NEGATIVE_INFINITY): void {
    this.#countedUpTo = Math.max(this.#countedUpTo, upTo)
    if (this.#since !== undefined && this.#since >= from) this.#since = undefined
    if (this.#leavingOut !== undefined && this.#leavingOut >= from) this.#leavingOut = undefined
  }

  leavesOut(since: number): void {
    this.#leavingOut = since
  }

  /** The input that would have left out time from `since` on was refused. */
  lost(since: number, now: number): void {
    this.#since = Math.min(this.#since ?? since, since)
    this.#leavingOut = undefined
    this.queryAgainAt = now + QUERY_AGAIN_MS
  }
}
