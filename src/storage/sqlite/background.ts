import { getPriority, setPriority } from 'node:os'

/** steps of niceness; at this many it gets a third of a core that another thread wants too */
const STEPS = 5
const LAST = 19

/**
 * Puts the calling thread behind the others of this process, for work that nobody waits for. On Linux alone: elsewhere
 * it would be the whole process.
 */
export function workInBackground(): void {
  if (process.platform !== 'linux') return
  setPriority(0, Math.min(getPriority(0) + STEPS, LAST))
}
