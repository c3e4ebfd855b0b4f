/** Page of an ordered list, with the total length of the list. */
export interface Page<T> {
  readonly values: readonly T[]
  readonly skip: number
  readonly limit: number
  readonly total: number
}
