/** Injected time of request deadlines and the stop; default: the machine's. */
export interface Timers {
  elapsed(): number
  /** Schedules work once; returns its cancellation. */
  after(ms: number, work: () => void): () => void
  /** Schedules repeated work without keeping the process alive; returns its cancellation. */
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
