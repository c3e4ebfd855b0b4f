/** Tunes V8 for a serving process. */
import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Heap size in bytes above which compaction after a start is worth the pause. */
const LARGE = 192 * 1024 * 1024

/**
 * Disables pretenuring: after a burst of requests V8 would allocate similar objects in the old space, and scavenges
 * take 15 ms instead of 3. Also limits concurrent marking to half of the cores, so that posts and writer threads keep a
 * core. Only for our own process, at its start: libraries should not change V8 settings for their users.
 */
export function keepHeapSteady(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString(`--concurrent-marking-max-worker-num=${markersOf(availableParallelism())}`)
}

function markersOf(cores: number): number {
  return Math.min(7, Math.max(1, cores >> 1))
}

/** An idle V8 would keep the garbage from the start for long. Takes 2 s for 1 GB. */
export function compactHeap(): void {
  const { heapTotal } = process.memoryUsage()
  if (heapTotal < LARGE) return
  // only contexts created after setting the flag have `gc`
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (how?: Readonly<Record<string, string>>) => void
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  // Node 20 ignores the options above: collect without them
  if (process.memoryUsage().heapTotal >= heapTotal) collect()
}
