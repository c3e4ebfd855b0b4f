/** Lowers the priority of threads. */
import { getPriority, setPriority } from 'node:os'

const LAST = 19

/**
 * Raises the niceness of the calling thread: with 5 steps it gets a quarter of a contended core, with 12 a fifteenth.
 * Linux only: elsewhere it would affect the whole process. A no-op where not permitted.
 */
export function workInBackground(steps: number): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, Math.min(getPriority(0) + steps, LAST))
  } catch {
    // forbidden in some sandboxes; affects only speed
  }
}
