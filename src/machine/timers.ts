/** The machine's time and chance, for those that take them from outside. */
import { setImmediate } from 'node:timers'

/** Does the work after so many ms; gives how to call it off. It keeps no process alive. */
function later(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

/** Resolves when all that came in meanwhile had its turn. */
function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export const machineTimers = { later, breathe, random: Math.random }
