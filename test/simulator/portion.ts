/** Consecutive seeds for one process to run. */
export interface Portion {
  /** the first seed */
  readonly from: number
  readonly count: number
}
