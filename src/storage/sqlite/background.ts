/** Gives a thread less of the processor than the threads that answer. */
import { getPriority, setPriority } from 'node:os'

/** of niceness; with so many it gets a quarter of a core that another thread wants too */
const STEPS = 5
const LAST = 19

/**
 * Puts the calling thread behind the others of this process, for work that nobody waits for. On Linux alone: elsewhere
 * it would be the whole process. Where that is not allowed the thread works as all others do.
 */
export function workInBackground(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, Math.min(getPriority(0) + STEPS, LAST))
  } catch {
    // a sandbox forbids it; nothing but speed depends on it
  }
}
