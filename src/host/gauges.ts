/**
 * Where a service or the runner says what it does, for /metrics. Cheap: each call adds to a number. Totals count since
 * the start of the process.
 */
export interface Gauges {
  /** messages and pushes that tasks took */
  inputs(count: number): void
  steps(count: number): void
  firings(count: number): void
  /** firings that a cool-down or an overlap held back */
  held(count: number): void
  /** ms that one call of a plug took */
  plugTook(ms: number): void
  /** asked at each scrape: how many tasks there are by status */
  watchTasks(read: () => ByStatus | Promise<ByStatus>): void
  /** asked at each scrape: how many things wait in the named queue */
  watchQueue(name: string, read: () => number): void
  /** asked at each scrape: commits of storage since the start, and the ms that the last one took */
  watchCommits(read: () => { readonly commits: number; readonly lastCommitMs: number }): void
}

/** How many of something there are, by the name of their status. */
export type ByStatus = Readonly<Record<string, number>>
