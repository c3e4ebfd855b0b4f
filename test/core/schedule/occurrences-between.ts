import type { Schedule } from '../../../src/core/schedule/schedule.ts'

/** The occurrences at or after `from` and before `until` (epoch ms), at most `limit` of them. */
export function occurrencesBetween(schedule: Schedule, from: number, until: number, limit: number): readonly number[] {
  const found: number[] = []
  let at = schedule.next(from - 1)
  while (at !== null && at < until && found.length < limit) {
    found.push(at)
    at = schedule.next(at)
  }
  return found
}
