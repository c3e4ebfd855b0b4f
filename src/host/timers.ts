/** Timers for request deadlines and for the stop, injectable in tests; default: the machine's. */
export interface Timers {
  elapsed(): number
  /** Schedules work once; returns a function that cancels it. */
  after(ms: number, work: () => void): () => void
  /** Schedules repeated work without keeping the process alive; returns a function that cancels it. */
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
