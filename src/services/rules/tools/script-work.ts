/** The work that scripts of a direct run do in other threads, counted for the run that caused it. */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface ScriptWork {
  /** scripts that wait or are under way */
  open: number
  /** ms that those which are over took */
  took: number
}

const current = new AsyncLocalStorage<ScriptWork>()

/** Does something whose scripts count as this work. */
export function countingScripts<T>(work: ScriptWork, does: () => T): T {
  return current.run(work, does)
}

/** A script begins to wait for its turn: gives what is to be told, once, when it is over and how many ms it took. */
export function scriptBegins(): (took: number) => void {
  const work = current.getStore()
  if (work === undefined) return () => undefined
  work.open++
  return (took) => {
    work.open--
    work.took += took
  }
}
