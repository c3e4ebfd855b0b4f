/**
 * Measures CPU time, to compare amounts of work. The speed of the machine cancels out in a comparison, and its load
 * does not count, because a waiting thread uses no CPU time.
 */

/** Returns the ms of CPU time that this thread has used. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Returns the ms of CPU time that some work takes. */
export function cpuOf(work: () => unknown): number {
  const begun = cpuMs()
  work()
  return cpuMs() - begun
}

/** ms below which a comparison would only be noise */
const LEAST = 2

/** Returns how much more CPU time the work takes for `times * size` than for `size`: about `times` if linear. */
export function growth(work: (size: number) => unknown, size: number, times: number): number {
  // excludes compilation, and garbage collection that affects only one of the two
  work(size)
  const small = Math.max(
    LEAST,
    cpuOf(() => work(size)),
  )
  const large = () => cpuOf(() => work(times * size))
  return Math.min(large(), large()) / small
}
