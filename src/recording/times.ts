/** The times of a recording in their order, also where a clock shows one twice. */
import { readTime, type ClockZone, type TimeReading } from './read-time.ts'

/**
 * Times of one recording, in its order. A clock reading that occurs twice (the hour after summer time ends) is taken as
 * the first instant that does not lie before the line above: a recorder that writes local time walks through both.
 */
export class RecordingTimes {
  readonly #zone: ClockZone
  #last = Number.NEGATIVE_INFINITY
  /** as it was written; the next line often has the same */
  #lastText: unknown

  constructor(zone: ClockZone) {
    this.#zone = zone
  }

  read(value: unknown): number | Exclude<TimeReading, { times: readonly number[] }> {
    if (value === this.#lastText) return this.#last
    const reading = readTime(value, this.#zone)
    if (!('times' in reading)) return reading
    const time = reading.times.find((candidate) => candidate >= this.#last) ?? reading.times[0] ?? 0
    this.#last = time
    this.#lastText = value
    return time
  }
}
