import { setImmediate as nextTurn } from 'node:timers/promises'

/** Polls until the condition holds; the test's own time limit ends the wait. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await nextTurn()
}
