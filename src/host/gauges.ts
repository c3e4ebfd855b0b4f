/**
 * Where a service or the runner says what it does, for /metrics. Cheap: each call adds to a number. Totals count since
 * the start of the process.
 */
export interface Gauges {
  /** ms that one call took of a plug that does not answer at once */
  plugTook(ms: number): void
  /** asked at each scrape: what tasks did since the start */
  watchWork(read: () => Work): void
  /** asked at each scrape: which way messages took through tasks since the start, and why some took the plain one */
  watchWays(read: () => Ways): void
  /** asked at each scrape: how many tasks there are by status */
  watchTasks(read: () => ByStatus | Promise<ByStatus>): void
  /** asked at each scrape: how many things wait in the named queue */
  watchQueue(name: string, read: () => number): void
  /** asked at each scrape: how many of the named thing there were since the start */
  watchTotal(name: string, read: () => number): void
  /** asked at each scrape: how many readings there were since the start that were not taken as they came, for that reason */
  watchReadings(reason: ReadingReason, read: () => number): void
  /** read at each scrape: inputs of tasks that are kept */
  watchKept(read: () => Kept): void
  /** asked at each scrape */
  watchClock(read: () => ClockFigures): void
  /** asked at each scrape: commits of storage since the start, and the ms that the last one took */
  watchCommits(read: () => { readonly commits: number; readonly lastCommitMs: number }): void
}

/** Older than one that was taken; taken before; older than the time of its task; not known any more; with a timestamp that cannot be right. */
export type ReadingReason = 'late' | 'duplicate' | 'skewed' | 'forgotten' | 'badTime'

/** How a host's time stands to the clock of its machine, in ms. */
export interface ClockFigures {
  /** by which it is ahead */
  readonly leadMs: number
  /** by which the machine's clock went forward without that another confirmed it */
  readonly unconfirmedMs: number
}

/** Totals since the start of the process. */
export interface Work {
  /** messages and pushes that tasks took */
  readonly inputs: number
  /** messages, timers, commands and late answers, once for each task that took them */
  readonly steps: number
  /** triggers that fired */
  readonly firings: number
  /** triggers that a cool-down, an overlap or a full queue held back */
  readonly held: number
  /** messages and calls of actuators that were dropped because too many waited, or because their tasks want it so */
  readonly dropped: number
}

/** Messages that tasks took, once for each task that took one. Totals since the start of the process. */
export interface Ways {
  /** by many tasks in one pass */
  readonly vectorized: number
  /** as rows of numbers, one after the other */
  readonly rows: number
  /** on the full state of a task, by why */
  readonly why: Readonly<Record<string, number>>
}

/** Inputs of tasks that are kept. `oldest`: epoch ms; undefined: none is kept */
export interface Kept {
  readonly bytes: number
  readonly messages: number
  readonly oldest: number | undefined
}

/** How many of something there are, by the name of their status. */
export type ByStatus = Readonly<Record<string, number>>
