/** A schedule that many tasks ask the same, and that answers from memory. */
import { tallyBetween } from './occurrences.ts'
import { firstFrom, type Schedule, type Tally, type WallClock } from './schedule.ts'

/**
 * A schedule that many tasks share and that remembers its last answers, because tasks of one template ask the same one
 * after the other: a fleet that ticks together costs one computation.
 */
export class RememberedSchedule implements Schedule {
  readonly key: string
  readonly anyStart: boolean
  readonly wallClock: WallClock | undefined
  readonly #schedule: Schedule
  readonly #runsAtStart: boolean
  /** from `#after` up to `#answer` the answer is the same; Infinity: there is none left */
  #after = Number.NaN
  #answer = Number.NaN
  #tally: { after: number; before: number; tally: Tally } | undefined

  /** `runsAtStart`: a run at the very start is the first. */
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

  /** Goes on from where the last count ended, when it began at the same instant. */
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
