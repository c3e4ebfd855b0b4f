/** What an engine has done since it was made. Numbers that only grow, for who asks now and then. */
export interface Counts {
  /** messages, timers, commands and late answers that tasks took, once for each task that took them */
  readonly steps: number
  /** triggers that fired */
  readonly firings: number
  /** those of them into actuators */
  readonly calls: number
  /** triggers that held and were held back, and ticks: by a cool-down, by work under way, by a full queue */
  readonly held: number
  /** inputs and effects that were dropped because too many waited, or because their tasks want it so */
  readonly dropped: number
  /** readings that came after a newer one of their sensor, once for each task */
  readonly late: number
  /** messages that a task had taken before */
  readonly duplicate: number
  /** readings from before the time of a task that were not late */
  readonly skewed: number
  /** readings that tasks would not know any more if they came again, because too many were remembered; absent: none */
  readonly forgotten?: number
}

export type Counting = { -readonly [K in keyof Counts]: Counts[K] }

/** Of an engine that has done nothing yet. */
export function noCounts(): Counting {
  return { steps: 0, firings: 0, calls: 0, held: 0, dropped: 0, late: 0, duplicate: 0, skewed: 0 }
}
