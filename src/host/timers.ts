/** The time in which requests are answered and the host stops: the machine's, unless whoever makes the host gives another. */
export interface Timers {
  /** ms since some moment; never goes back */
  elapsed(): number
  /** Does the work once, after so many ms; gives how to call it off. */
  after(ms: number, work: () => void): () => void
  /** Does the work every so many ms until it is called off. Keeps no process alive. */
  every(ms: number, work: () => void): () => void
}

export const machineTimers: Timers = {
  elapsed: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms)
    return () => clearTimeout(timer)
  },
  every(ms, work) {
    const timer = setInterval(work, ms).unref()
    return () => clearInterval(timer)
  },
}
