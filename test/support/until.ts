import { setImmediate as nextTurn } from 'node:timers/promises'

/** Asks again and again until it holds; the test's own time limit ends it. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await nextTurn()
}
