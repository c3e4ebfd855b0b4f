/** The times of a recording in their order, also where a clock shows one twice. */
import { readTime, type TimeReading } from '../time-text.ts'
import type { Zone } from '../zone.ts'

/**
 * Times of one recording, in its order. A clock reading that occurs twice (the hour after summer time ends) is taken as
 * the first instant that does not lie before the line above: a recorder that writes local time walks through both.
 */
export class RecordingTimes {
  readonly #zone: Zone
  #last = Number.NEGATIVE_INFINITY

  constructor(zone: Zone) {
    this.#zone = zone
  }

  read(value: unknown): number | Exclude<TimeReading, { times: readonly number[] }> {
    const reading = readTime(value, this.#zone)
    if (!('times' in reading)) return reading
    const time = reading.times.find((candidate) => candidate >= this.#last) ?? reading.times[0] ?? 0
    this.#last = time
    return time
  }
}
