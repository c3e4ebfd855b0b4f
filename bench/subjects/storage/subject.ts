/** What is measured of storage. */
export type StorageSubject =
  | 'create'
  | 'update'
  | 'get'
  | 'page'
  | 'pageAfterWrite'
  | 'append'
  | 'appendWindow'
  | 'samples1'
  | 'samples100'
  | 'samples1000'
  | 'hourly'

export interface Subject {
  /** how many things one run writes or reads */
  readonly things: number
  /** what has to be there before */
  prepare?(): unknown
  /** `n` counts up from 0 */
  run(n: number): unknown
}
