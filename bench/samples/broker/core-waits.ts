/** Effect of a busy machine on clock measurements. */
import { readFileSync } from 'node:fs'

/** Total ms in which the main thread was runnable without a core. NaN outside Linux. */
export function waitedForCore(): number {
  try {
    const [, waited = Number.NaN] = readFileSync('/proc/self/schedstat', 'utf8').split(' ').map(Number)
    return waited / 1e6
  } catch {
    return Number.NaN
  }
}
