/**
 * The machine's time, turns, chance and ids: services, jobs, adapters and the host ask for them here, or are given them by
 * whoever makes them, and nowhere else (`test/boundaries.test.ts`).
 */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers'

/** Does the work after so many ms; gives how to call it off. It keeps no process alive. */
function later(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

/** Does the work every so many ms until it is called off. It keeps no process alive. */
function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms)
  timer.unref()
  return () => clearInterval(timer)
}

/** Does the work when all that came in meanwhile had its turn. */
function soon(work: () => void): void {
  setImmediate(work)
}

/** Resolves when all that came in meanwhile had its turn. */
function breathe(): Promise<void> {
  return new Promise((resolve) => soon(resolve))
}

/** ms since some moment; never goes back */
function elapsed(): number {
  return performance.now()
}

export const machineTimers = { later, every, soon, breathe, elapsed, random: Math.random, newId: () => randomUUID() }
