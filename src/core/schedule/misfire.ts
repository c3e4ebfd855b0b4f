/** Decides which occurrences missed during a downtime still run. */
import { latestBefore, tallyBetween } from './occurrences.ts'
import type { Schedule } from './schedule.ts'

export interface MisfirePolicy {
  /** run none, only the latest, or each in order */
  misfire: 'skip' | 'once' | 'all'
  /** ms; older occurrences are skipped under every policy */
  maxLatenessMs?: number | undefined
  /** maximum number of runs under `all`, the latest ones; default 100, at most 1000 */
  cap?: number | undefined
}

export interface Missed {
  run: readonly number[]
  skipped: number
  isExact: boolean
  /** first occurrence at or after `now`, which is not missed */
  next: number | null
}

const DEFAULT_CAP = 100
const MAX_CAP = 1000

/**
 * Applies the policy to the occurrences strictly between the last tick and `now` (epoch ms). `at`: the instant to which
 * lateness is measured, if other than `now`. Counting stops at 100,000 occurrences. With a fixed delay at most one
 * occurrence is missed.
 */
export function missed(schedule: Schedule, lastTick: number, now: number, policy: MisfirePolicy, at = now): Missed {
  if (schedule.fixedDelay) return missedDelay(schedule, lastTick, now, policy)
  const { count, isExact } = tallyBetween(schedule, lastTick, now)
  const wanted = policy.misfire === 'skip' ? 0 : policy.misfire === 'once' ? 1 : bounded(policy.cap)
  const oldest = at - (policy.maxLatenessMs ?? Infinity)
  const run: number[] = []
  let before = now
  while (run.length < wanted) {
    const latest = latestBefore(schedule, before, lastTick)
    if (latest === null || latest < oldest) break
    run.unshift(latest)
    before = latest
  }
  return { run, skipped: count - run.length, isExact, next: schedule.next(now - 1) }
}

function missedDelay(schedule: Schedule, lastTick: number, now: number, policy: MisfirePolicy): Missed {
  const due = schedule.next(lastTick)
  if (due === null || due >= now) return { run: [], skipped: 0, isExact: true, next: due }
  const runs = policy.misfire !== 'skip' && now - due <= (policy.maxLatenessMs ?? Infinity)
  return { run: runs ? [due] : [], skipped: runs ? 0 : 1, isExact: true, next: schedule.next(now) }
}

function bounded(cap = DEFAULT_CAP): number {
  return Math.max(0, Math.min(MAX_CAP, Math.floor(cap)))
}
