/** Caches the last results of a schedule that many tasks share. */
import { tallyBetween } from './occurrences.ts'
import { firstFrom, type Schedule, type Tally, type WallClock } from './schedule.ts'

export class RememberedSchedule implements Schedule {
  readonly key: string
  readonly anyStart: boolean
  readonly wallClock: WallClock | undefined
  readonly #schedule: Schedule
  readonly #runsAtStart: boolean
  /** queries from `#after` up to `#answer` return `#answer`; Infinity: exhausted */
  #after = Number.NaN
  #answer = Number.NaN
  #tally: { after: number; before: number; tally: Tally } | undefined

  /** `runsAtStart`: true if an occurrence at the start itself counts. */
  constructor(schedule: Schedule, runsAtStart = false) {
    this.#schedule = schedule
    this.#runsAtStart = runsAtStart
    this.key = schedule.key
    this.anyStart = schedule.anyStart ?? false
    this.wallClock = schedule.wallClock
  }

  next(after: number): number | null {
    if (!(after >= this.#after && after < this.#answer)) {
      this.#answer = this.#schedule.next(after) ?? Number.POSITIVE_INFINITY
      this.#after = after
    }
    return this.#answer === Number.POSITIVE_INFINITY ? null : this.#answer
  }

  first(start: number): number | null {
    return this.#runsAtStart ? firstFrom(this.#schedule, start) : this.next(start)
  }

  /** Counts occurrences; continues the last count if it began at the same instant. */
  tally(after: number, before: number): Tally {
    const known = this.#tally
    const goesOn = known !== undefined && known.after === after && known.before <= before
    if (goesOn && !known.tally.isExact) return known.tally
    const more = goesOn
      ? tallyBetween(this.#schedule, Math.max(after, known.before - 1), before)
      : tallyBetween(this.#schedule, after, before)
    const tally = goesOn ? { count: known.tally.count + more.count, isExact: more.isExact } : more
    this.#tally = { after, before, tally }
    return tally
  }
}
