/** Figures of services for /metrics. Calls are cheap; totals count since the start of the process. */
export interface Gauges {
  /** Records the ms of one call of an asynchronous plug */
  plugTook(ms: number): void
  watchWork(read: () => Work): void
  /** Registers counts of messages by path through the engine, and reasons for the plain path */
  watchWays(read: () => Ways): void
  watchTasks(read: () => ByStatus | Promise<ByStatus>): void
  watchQueue(name: string, read: () => number): void
  watchTotal(name: string, read: () => number): void
  watchReadings(reason: ReadingReason, read: () => number): void
  watchKept(read: () => Kept): void
  watchClock(read: () => ClockFigures): void
  watchCommits(read: () => { readonly commits: number; readonly lastCommitMs: number }): void
}

/**
 * Older than an accepted one; a duplicate; older than the time of its task; dropped from memory; or with an impossible
 * timestamp.
 */
export type ReadingReason = 'late' | 'duplicate' | 'skewed' | 'forgotten' | 'badTime'

/** Difference between the host's time and the machine's clock, in ms. */
export interface ClockFigures {
  /** Lead over the machine's clock */
  readonly leadMs: number
  /** Unconfirmed step forward of the machine's clock */
  readonly unconfirmedMs: number
}

export interface Work {
  readonly inputs: number
  /** Messages, timers, commands and late answers, once per task */
  readonly steps: number
  readonly firings: number
  readonly held: number
  readonly dropped: number
}

/** Messages by path, once per task. Totals since the start of the process. */
export interface Ways {
  readonly vectorized: number
  readonly rows: number
  readonly why: Readonly<Record<string, number>>
}

/** Inputs of tasks that are kept. `oldest`: epoch ms; undefined: none is kept */
export interface Kept {
  readonly bytes: number
  readonly messages: number
  readonly oldest: number | undefined
}

export type ByStatus = Readonly<Record<string, number>>
