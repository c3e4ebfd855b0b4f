/** Time in which the machine itself stood still: another one on the same hardware had a core, and no counter here shows it. */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

export interface Watch {
  readonly words: Int32Array<SharedArrayBuffer>
  readonly core: number
}

/** places of the words */
export const LOST = 0
export const WORD = 1

/**
 * Begins to watch all cores; what it gives ends it and says how many ms a core stood still, all of them added up. NaN
 * where no thread may go before all others: it takes Linux and root.
 */
export async function watchStalls(): Promise<() => number> {
  if (process.platform !== 'linux') return () => Number.NaN
  const words = new Int32Array(new SharedArrayBuffer(8))
  const watching = await Promise.all(
    Array.from({ length: availableParallelism() }, (_, core) => {
      const watcher = new Worker(new URL('./stall-watch.ts', import.meta.url), {
        workerData: { words, core } satisfies Watch,
      })
      return once(watcher, 'message').then(
        () => {
          // who fails before the end shall not hang
          watcher.unref()
          return true
        },
        () => false,
      )
    }),
  )
  return () => {
    Atomics.store(words, WORD, 1)
    Atomics.notify(words, WORD)
    return watching.every(Boolean) ? Atomics.load(words, LOST) / 1_000 : Number.NaN
  }
}
