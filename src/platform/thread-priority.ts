/** Lowers the priority of threads. */
import { getPriority, setPriority } from 'node:os'

const LAST = 19

/**
 * 5 steps leave a quarter of a contended core, 12 a fifteenth. Only on Linux: elsewhere it affects the whole process.
 */
export function workInBackground(steps: number): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, Math.min(getPriority(0) + steps, LAST))
  } catch {
    // some sandboxes forbid this; it only affects speed
  }
}
