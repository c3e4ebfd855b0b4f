/** The schedules of tasks without a clock: one occurrence, or none. */
import type { Schedule } from './schedule.ts'

/** One occurrence, at the start of the task. */
export function once(start: number): Schedule {
  return {
    key: `onetime ${start}`,
    next: (after) => (after < start ? start : null),
    first: (from) => (from <= start ? start : null),
  }
}

/** No clock: a task that only data and pushed states wake. */
export function never(): Schedule {
  return { key: 'reactive', next: () => null, first: () => null }
}
