/** How a busy machine bends what is measured by the clock. */
import { readFileSync } from 'node:fs'

/** ms so far in which the main thread could have worked and had no core to do so. NaN where the system does not say it: only Linux does. */
export function waitedForCore(): number {
  try {
    const [, waited = Number.NaN] = readFileSync('/proc/self/schedstat', 'utf8').split(' ').map(Number)
    return waited / 1e6
  } catch {
    return Number.NaN
  }
}
