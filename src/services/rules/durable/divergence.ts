/**
 * Compares the firings of a task and of its shadow while both run.
 *
 * DIVERGENCE-1 counts are stored together with the states of both tasks, so that a replay after a crash repeats exactly
 *   the firings that are not counted yet
 */
import { type Difference, FiringMatcher, type SavedMatcher, type Side } from '#core/spi'
import type { DiffFiring, DiffTally, Firing, TriggerExplanation } from '#core'
import type { CollectionSpec } from '#storage'

export interface SavedDivergence {
  readonly rollout: string
  readonly task: string
  readonly resource?: string
  readonly matcher: SavedMatcher
  readonly latest: readonly Difference[]
  readonly explained: number
  readonly hours: readonly HourCounts[]
}

export const DIVERGENCES: CollectionSpec<SavedDivergence> = {
  name: 'rollout_divergences',
  version: 1,
  fields: { rollout: { type: 'text', of: ({ rollout }) => rollout } },
}

/** Counts of one hour since 1970, of the new version. */
interface HourCounts {
  readonly hour: number
  /** firings of one version only */
  divergence: number
  /** failed calls */
  errors: number
  /** firings of nodes that raise alarms */
  alarms: number
}

export type DayCount = Exclude<keyof HourCounts, 'hour'>
export type DayCounts = Readonly<Record<DayCount, number>>

interface DivergenceView {
  readonly tallies: readonly DiffTally[]
  /** newest last, at most `MAX_LATEST` */
  readonly latest: readonly Difference[]
}

interface DivergenceHead {
  readonly rollout: string
  readonly task: string
  readonly resource?: string
  /** ms within which a firing counts as moved */
  readonly tolerance: number
}

const MAX_LATEST = 20
const MAX_EXPLAINED = 200
/** Number of unmatched firings above which reasons are left out, and above which the oldest are no longer matched. */
const MAX_REASONED = 100
const MAX_WAITING = 2_000
const HOUR_MS = 3_600_000
const HOURS = 24

export class Divergence {
  readonly head: DivergenceHead
  readonly #matcher: FiringMatcher
  readonly #latest: Difference[]
  readonly #hours: HourCounts[]
  #explained: number
  /** counts changes, so that a save can be compared with what was stored */
  revision = 0
  #stored = -1
  /** oldest firing without a partner, epoch ms */
  #oldest = Number.POSITIVE_INFINITY

  constructor(head: DivergenceHead, saved?: SavedDivergence) {
    this.head = head
    this.#matcher = new FiringMatcher(head.tolerance, (difference) => this.#found(difference), saved?.matcher)
    this.#latest = [...(saved?.latest ?? [])]
    this.#hours = saved?.hours.map((one) => ({ ...one })) ?? []
    this.#explained = saved?.explained ?? 0
    if (this.#matcher.waiting > 0) this.#oldest = Number.NEGATIVE_INFINITY
  }

  /** `blocked`: explains why the other side did not fire. */
  instant(
    time: number,
    firings: Readonly<Record<Side, readonly Firing[]>>,
    blocked: (side: Side, node: string) => readonly TriggerExplanation[] | undefined,
  ): void {
    this.revision++
    this.#matcher.settle(time)
    this.#matcher.instant(firings.old, firings.new, (side, firing) => this.#single(side, firing, blocked))
    this.#bound(time)
  }

  /** Time (epoch ms) after which `settle` finds a firing that stays without a partner. */
  get dueAt(): number {
    return this.#oldest + this.head.tolerance
  }

  settle(now: number): void {
    if (this.#matcher.waiting === 0) return
    this.revision++
    this.#matcher.settle(now)
    this.#bound(now)
  }

  count(time: number, what: DayCount, count = 1): void {
    this.revision++
    const hour = Math.floor(time / HOUR_MS)
    const last = this.#hours.findLast((one) => one.hour === hour)
    if (last !== undefined) last[what] += count
    else {
      this.#hours.push({ hour, divergence: 0, errors: 0, alarms: 0, [what]: count })
      if (this.#hours.length > HOURS + 1) this.#hours.shift()
    }
  }

  /** Returns the counts of the last 24 hours. */
  day(now: number): DayCounts {
    const from = Math.floor(now / HOUR_MS) - HOURS
    const sum = { divergence: 0, errors: 0, alarms: 0 }
    for (const { hour, divergence, errors, alarms } of this.#hours) {
      if (hour <= from) continue
      sum.divergence += divergence
      sum.errors += errors
      sum.alarms += alarms
    }
    return sum
  }

  save(): SavedDivergence {
    const { rollout, task, resource } = this.head
    return {
      rollout,
      task,
      ...(resource !== undefined && { resource }),
      matcher: this.#matcher.save(),
      latest: [...this.#latest],
      explained: this.#explained,
      hours: this.#hours.map((one) => ({ ...one })),
    }
  }

  get isStored(): boolean {
    return this.#stored === this.revision
  }

  stored(revision: number): void {
    this.#stored = revision
  }

  #single(
    side: Side,
    { node, time, source, why }: Firing,
    blocked: (side: Side, node: string) => readonly TriggerExplanation[] | undefined,
  ): DiffFiring {
    if (this.#explained >= MAX_EXPLAINED || this.#matcher.waiting >= MAX_REASONED) return { time, source }
    const other = blocked(side === 'old' ? 'new' : 'old', node)
    this.#explained++
    return { time, source, ...(why && { why: why.toJSON() }), ...(other && { other }) }
  }

  #bound(now: number): void {
    const { waiting } = this.#matcher
    if (waiting > MAX_WAITING) this.#matcher.settle(Number.POSITIVE_INFINITY)
    if (this.#matcher.waiting === 0) this.#oldest = Number.POSITIVE_INFINITY
    else if (this.#oldest + this.head.tolerance < now || this.#oldest === Number.POSITIVE_INFINITY) this.#oldest = now
  }

  #found(difference: Difference): void {
    if (difference.kind !== 'moved') this.count(difference.time, 'divergence')
    this.#latest.push(difference)
    if (this.#latest.length > MAX_LATEST) this.#latest.shift()
  }
}

/** Returns what the firings so far amount to if no further one follows. */
export function viewOf({ matcher, latest }: SavedDivergence, tolerance: number): DivergenceView {
  const found: Difference[] = [...latest]
  const all = new FiringMatcher(tolerance, (difference) => void found.push(difference), matcher)
  all.settle(Number.POSITIVE_INFINITY)
  const newest = found.toSorted((a, b) => a.time - b.time).slice(-MAX_LATEST)
  return { tallies: all.tallies, latest: newest }
}
