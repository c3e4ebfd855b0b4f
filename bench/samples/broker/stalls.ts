/**
 * Stalls of the machine itself: time in which another virtual machine had the core, which counters here do not show.
 */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

export interface Watch {
  readonly words: Int32Array<SharedArrayBuffer>
  readonly core: number
}

/** indexes of the words */
export const LOST = 0
export const WORD = 1

/**
 * Watches all cores; the result stops it and returns the total ms of stalls. NaN without real-time priority: requires
 * Linux and root.
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
          // must not hang after an early failure
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
