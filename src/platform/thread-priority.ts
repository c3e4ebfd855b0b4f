/** Lowers the priority of threads. */
import { getPriority, setPriority } from 'node:os'

const LAST = 19

/**
 * Raises the niceness of the calling thread: with 5 steps it gets a quarter of a contended core, with 12 a fifteenth.
 * Only on Linux, since elsewhere it would affect the whole process. Does nothing where it is not permitted.
 */
export function workInBackground(steps: number): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, Math.min(getPriority(0) + steps, LAST))
  } catch {
    // some sandboxes forbid this; it only affects speed
  }
}
