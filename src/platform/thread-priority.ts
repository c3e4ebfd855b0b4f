/** Which threads of a process work behind others. */
import { getPriority, setPriority } from 'node:os'

const LAST = 19

/**
 * Puts the calling thread behind the others of this process: with 5 steps of niceness it gets a quarter of a core that
 * another one wants too, with 12 a fifteenth. On Linux alone: elsewhere it would be the whole process. Where that is not
 * allowed the thread works as all others do.
 */
export function workInBackground(steps: number): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, Math.min(getPriority(0) + steps, LAST))
  } catch {
    // a sandbox forbids it; nothing but speed depends on it
  }
}
