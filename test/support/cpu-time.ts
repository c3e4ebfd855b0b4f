/**
 * CPU time, for facts about how much work something is. How fast the machine is cancels out when two works are compared,
 * and how busy it is plays no part: a thread that waits for a core does not use it.
 */

/** ms of CPU that this thread has used so far. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** ms of CPU for one work. */
export function cpuOf(work: () => unknown): number {
  const begun = cpuMs()
  work()
  return cpuMs() - begun
}

/** ms that a comparison needs to be more than noise */
const LEAST = 2

/** How many times the work of `size` the work of `times * size` is: about `times` when it grows in proportion. */
export function growth(work: (size: number) => unknown, size: number, times: number): number {
  // what is compiled on the way is no part of it, nor is what the collector does in one of two
  work(size)
  const small = Math.max(
    LEAST,
    cpuOf(() => work(size)),
  )
  const large = () => cpuOf(() => work(times * size))
  return Math.min(large(), large()) / small
}
