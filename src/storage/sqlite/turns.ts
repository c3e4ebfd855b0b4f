/** Long lists are made in several turns of the event loop, so that nothing else waits for them. */
import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'

/** ms of one turn */
const MAX_MS = 4
/** items between two looks at the clock */
const STRIDE = 32

export async function mapInTurns<Item, Result>(
  items: ArrayLike<Item>,
  of: (item: Item, place: number) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  let since = performance.now()
  for (let place = 0; place < items.length; place += 1) {
    // Within its length an array-like has an item, which may itself be undefined.
    results.push(of(items[place] as Item, place))
    if (place % STRIDE !== STRIDE - 1 || performance.now() - since < MAX_MS) continue
    await setImmediate()
    since = performance.now()
  }
  return results
}
