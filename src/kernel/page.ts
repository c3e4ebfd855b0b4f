/** A part of an ordered list, and how long the list is. */
export interface Page<T> {
  readonly values: readonly T[]
  /** how many came before the first of `values` */
  readonly skip: number
  /** how many were asked for at most */
  readonly limit: number
  /** how many there are in all */
  readonly total: number
}
