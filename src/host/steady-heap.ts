/** What a process that serves asks of V8, so that it takes the memory that it needs. */
import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of heap at which a start has left behind enough to be worth a pause. */
const LARGE = 192 * 1024 * 1024

/**
 * Has this process make every object where young ones are collected. Else V8 makes those of a kind that once lived long,
 * as in a burst of requests, in its old space from then on, where each that is done with still holds all that it points
 * to until the next great collection: requests then survive by their thousands, and collecting young objects takes 15 ms
 * instead of 3. For a process that is ours, before it has much to do: no library should change this for its users.
 *
 * And has great collections look through the heap beside it with half of the cores: with all of them, whoever posts waits
 * for a core as long as that lasts, as do the threads that write.
 */
export function keepHeapSteady(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString(`--concurrent-marking-max-worker-num=${markersOf(availableParallelism())}`)
}

/** V8 has 7 at most by itself. */
function markersOf(cores: number): number {
  return Math.min(7, Math.max(1, cores >> 1))
}

/**
 * Gives back what a start has left behind: V8 keeps it until much else was made, which at rest takes for ever, and keeps
 * pages for later use besides. Some 2 s for a heap of 1 GB, before requests come; does nothing when there is little.
 */
export function compactHeap(): void {
  const { heapTotal } = process.memoryUsage()
  if (heapTotal < LARGE) return
  // a context that is made meanwhile has the function, and no other
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (how?: Readonly<Record<string, string>>) => void
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  // Node 20 does nothing when it is told how
  if (process.memoryUsage().heapTotal >= heapTotal) collect()
}
