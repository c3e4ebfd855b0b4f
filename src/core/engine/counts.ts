/** Counts what an engine did since its creation. */
export interface Counts {
  /** messages, timers, commands and late results, once per task that processed them */
  readonly steps: number
  readonly firings: number
  readonly calls: number
  /** triggers and ticks that were held back by a cool-down, by work in progress, or by a full queue */
  readonly held: number
  /** inputs and actuator calls that were dropped because too many waited, or by the task's settings */
  readonly dropped: number
  /** readings older than a newer one of the same sensor, once per task */
  readonly late: number
  readonly duplicate: number
  readonly skewed: number
  /** readings whose repetition is no longer recognized, because too many were remembered; absent: none */
  readonly forgotten?: number
}

export type Counting = { -readonly [K in keyof Counts]: Counts[K] }

export function noCounts(): Counting {
  return { steps: 0, firings: 0, calls: 0, held: 0, dropped: 0, late: 0, duplicate: 0, skewed: 0 }
}
