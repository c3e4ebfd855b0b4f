/** Lists in order of time. */
interface Timed {
  readonly time: number
}

/** The place of the first that is not before a time. */
export function firstAt(list: readonly Timed[], time: number): number {
  // Most come in order
  const last = list.at(-1)
  if (last === undefined || last.time < time) return list.length
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle] as Timed).time < time)
      low = middle + 1 // middle is below length
    else high = middle
  }
  return low
}

/** A copy of the part from one time to another, both included. */
export function within<T extends Timed>(
  list: readonly T[],
  span: { readonly from: number; readonly until: number },
): T[] {
  return list.slice(firstAt(list, span.from), firstAt(list, span.until + 1))
}

/** Whether readers still see it. */
export function isSeen(one: { readonly expires?: number }, now: number): boolean {
  return one.expires === undefined || one.expires > now
}
