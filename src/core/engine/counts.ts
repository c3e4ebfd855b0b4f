/** Totals of an engine since its creation; they only grow. */
export interface Counts {
  /** messages, timers, commands and late answers, once per task that took them */
  readonly steps: number
  readonly firings: number
  readonly calls: number
  /** triggers and ticks that were held back: by a cool-down, by work under way, by a full queue */
  readonly held: number
  /** inputs and effects that were dropped because too many waited, or by the task's settings */
  readonly dropped: number
  /** readings older than a newer one of their sensor, once per task */
  readonly late: number
  readonly duplicate: number
  /** readings from before the time of a task that were not late */
  readonly skewed: number
  /** readings that are no longer recognized when repeated, because too many were remembered; absent: none */
  readonly forgotten?: number
}

export type Counting = { -readonly [K in keyof Counts]: Counts[K] }

export function noCounts(): Counting {
  return { steps: 0, firings: 0, calls: 0, held: 0, dropped: 0, late: 0, duplicate: 0, skewed: 0 }
}
