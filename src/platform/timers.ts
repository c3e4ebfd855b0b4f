/**
 * Provides system time, event loop turns, randomness and ids, the only ones for services, jobs, adapters and the host.
 */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers'

/** Runs `work` after `ms`; returns a function that cancels it. Does not keep the process alive. */
function later(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

/** Runs `work` every `ms` until cancelled. Does not keep the process alive. */
function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms)
  timer.unref()
  return () => clearInterval(timer)
}

function soon(work: () => void): void {
  setImmediate(work)
}

function breathe(): Promise<void> {
  return new Promise((resolve) => soon(resolve))
}

/** Returns monotonic ms */
function elapsed(): number {
  return performance.now()
}

export const machineTimers = { later, every, soon, breathe, elapsed, random: Math.random, newId: () => randomUUID() }
