/** Seeds that follow each other, to be run by one process. */
export interface Portion {
  /** the first */
  readonly from: number
  readonly count: number
}
