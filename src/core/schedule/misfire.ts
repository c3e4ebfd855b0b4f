/** What becomes of occurrences that nobody was there for. */
import { latestBefore, tallyBetween } from './occurrences.ts'
import type { Schedule } from './schedule.ts'

/** What to do with occurrences that nobody was there for (task settings `misfire` and `maxLateness`). */
export interface MisfirePolicy {
  /** `skip` runs none of them, `once` the latest, `all` each of them in order */
  misfire: 'skip' | 'once' | 'all'
  /** ms; an older occurrence is skipped under every policy */
  maxLatenessMs?: number | undefined
  /** how many `all` runs at most, the latest ones; default 100, at most 1000 */
  cap?: number | undefined
}

export interface Missed {
  /** the occurrences to run late, ascending */
  run: readonly number[]
  /** how many are left out */
  skipped: number
  /** false: there were too many to count one by one, and `skipped` is only a lower bound */
  isExact: boolean
  /** the first occurrence at or after `now`, which is not late */
  next: number | null
}

const DEFAULT_CAP = 100
const MAX_CAP = 1000

/**
 * What a clock missed strictly between its last tick and `now` (epoch ms), and what follows from the policy.
 * `at`: the instant from which lateness counts, when it is not `now`.
 * Bounded: beyond 100,000 occurrences it stops counting. After a fixed delay at most one is missed.
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
