/** Measures the time of scripts that a direct run executes in other threads, and counts it toward the run. */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface ScriptWork {
  open: number
  took: number
}

const current = new AsyncLocalStorage<ScriptWork>()

export function countingScripts<T>(work: ScriptWork, does: () => T): T {
  return current.run(work, does)
}

/** Returns a function to call once with the ms that the script took. */
export function scriptBegins(): (took: number) => void {
  const work = current.getStore()
  if (work === undefined) return () => undefined
  work.open++
  return (took) => {
    work.open--
    work.took += took
  }
}
