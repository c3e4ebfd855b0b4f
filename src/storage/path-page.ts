/** Cuts pages from a sorted list of paths. */
import { compareText } from './order.ts'

export function pathPage(
  paths: readonly string[],
  { prefix, after, limit }: { readonly prefix: string; readonly after: string; readonly limit: number },
): readonly string[] {
  const page: string[] = []
  let at = compareText(after, prefix) < 0 ? indexInOrder(paths, prefix) : indexInOrder(paths, after)
  if (after !== '' && paths[at] === after) at += 1
  for (; at < paths.length && page.length < limit; at += 1) {
    const path = paths[at] as string // at is below length
    if (!path.startsWith(prefix)) break
    page.push(path)
  }
  return page
}

/** Returns the index of the first path that is not before the given path. */
export function indexInOrder(paths: readonly string[], path: string): number {
  let low = 0
  let high = paths.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareText(paths[middle] as string, path) < 0)
      low = middle + 1 // middle is below length
    else high = middle
  }
  return low
}
