/**
 * Matches the firings of two runs: equal, moved in time, or in one run only.
 *
 * DIFF-1 a firing counts once: as equal, as a half of a move, or as a firing of its run only.
 * DIFF-2 firings of one destination at one instant are equal; moves are matched afterwards.
 * DIFF-3 moves of one destination do not cross, and stay within the tolerance.
 */
import type { Why } from '../engine/events.ts'
import type { TriggerExplanation } from '../task/explain.ts'

export type Side = 'old' | 'new'

/** A firing without an equal firing in the other run. */
export interface DiffFiring {
  readonly time: number
  readonly source: string
  readonly why?: Why
  /**
   * What blocked the other run's triggers into this node at that time; `needs` is the smallest change that would have
   * fired the node. Absent when the other rule lacks the node, or beyond the maximum number of explanations
   */
  readonly other?: readonly TriggerExplanation[]
}

export type Difference =
  | { readonly kind: 'onlyOld'; readonly node: string; readonly time: number; readonly old: DiffFiring }
  | { readonly kind: 'onlyNew'; readonly node: string; readonly time: number; readonly new: DiffFiring }
  | {
      readonly kind: 'moved'
      readonly node: string
      readonly time: number
      /** ms of the move; negative when the new run fires earlier */
      readonly by: number
      readonly old: DiffFiring
      readonly new: DiffFiring
    }

export interface InstantFiring {
  readonly node: string
}

export interface DiffTally {
  readonly node: string
  old: number
  new: number
  equal: number
  moved: number
  onlyOld: number
  onlyNew: number
}

interface Destination {
  readonly tally: DiffTally
  /** unmatched firings, in order of time */
  readonly old: DiffFiring[]
  readonly new: DiffFiring[]
}

/** What a matcher knows, as plain JSON. */
export interface SavedMatcher {
  readonly nodes: readonly {
    readonly tally: DiffTally
    readonly old: readonly DiffFiring[]
    readonly new: readonly DiffFiring[]
  }[]
}

/** Receives the firings of both runs in order of time; stores only unmatched ones. */
export class FiringMatcher {
  readonly #tolerance: number
  readonly #found: (difference: Difference) => void
  readonly #byNode = new Map<string, Destination>()

  /** `tolerance` in ms */
  constructor(tolerance: number, found: (difference: Difference) => void, saved?: SavedMatcher) {
    this.#tolerance = tolerance
    this.#found = found
    for (const { tally, old, new: fresh } of saved?.nodes ?? [])
      this.#byNode.set(tally.node, { tally: { ...tally }, old: [...old], new: [...fresh] })
  }

  save(): SavedMatcher {
    return { nodes: [...this.#byNode.values()].map((one) => ({ ...one, tally: { ...one.tally } })) }
  }

  /** Number of firings that a later firing may still match. */
  get waiting(): number {
    let count = 0
    for (const destination of this.#byNode.values()) count += destination.old.length + destination.new.length
    return count
  }

  get tallies(): readonly DiffTally[] {
    return [...this.#byNode.values()].map(({ tally }) => tally)
  }

  /** Declares a destination, so that it is counted even without firings. */
  declare(node: string): void {
    this.#of(node)
  }

  equal(node: string, count: number): void {
    const { tally } = this.#of(node)
    tally.old += count
    tally.new += count
    tally.equal += count
  }

  /** Adds the firings of both runs at one instant. `single` describes a firing that the other run lacks. */
  instant<F extends InstantFiring>(
    old: readonly F[],
    fresh: readonly F[],
    single: (side: Side, firing: F) => DiffFiring,
  ): void {
    for (const node of new Set([...old, ...fresh].map((firing) => firing.node))) {
      const before = old.filter((firing) => firing.node === node)
      const after = fresh.filter((firing) => firing.node === node)
      const equal = Math.min(before.length, after.length)
      if (equal > 0) this.equal(node, equal)
      for (const firing of before.slice(equal)) this.single('old', node, single('old', firing))
      for (const firing of after.slice(equal)) this.single('new', node, single('new', firing))
    }
  }

  /**
   * Adds a firing of one run, and matches it with a firing of the other run at the same instant. Times must not
   * decrease.
   */
  single(side: Side, node: string, firing: DiffFiring): void {
    const destination = this.#of(node)
    const others = destination[side === 'old' ? 'new' : 'old']
    const last = others.findLastIndex(({ time }) => time === firing.time)
    destination.tally[side]++
    if (last === -1) destination[side].push(firing)
    else {
      others.splice(last, 1)
      destination.tally.equal++
    }
  }

  /** Matches firings before `now`, and reports firings that no later firing can match. */
  settle(now: number): void {
    for (const [node, destination] of this.#byNode) {
      if (destination.old.length + destination.new.length > 0) this.#match(node, destination, now)
    }
  }

  #of(node: string): Destination {
    const known = this.#byNode.get(node)
    if (known) return known
    const tally = { node, old: 0, new: 0, equal: 0, moved: 0, onlyOld: 0, onlyNew: 0 }
    const made: Destination = { tally, old: [], new: [] }
    this.#byNode.set(node, made)
    return made
  }

  #match(node: string, destination: Destination, now: number): void {
    // more firings may follow at the current instant
    const over = (firing: DiffFiring | undefined) => (firing !== undefined && firing.time < now ? firing : undefined)
    for (;;) {
      const before = over(destination.old[0])
      const after = over(destination.new[0])
      if (before !== undefined && after !== undefined && Math.abs(after.time - before.time) <= this.#tolerance) {
        this.#moved(node, destination, before, after)
        continue
      }
      const oldTime = before?.time ?? Number.POSITIVE_INFINITY
      const newTime = after?.time ?? Number.POSITIVE_INFINITY
      if (Math.min(oldTime, newTime) >= now - this.#tolerance) return
      if (before !== undefined && oldTime <= newTime) {
        destination.old.shift()
        destination.tally.onlyOld++
        this.#found({ kind: 'onlyOld', node, time: before.time, old: before })
      } else if (after !== undefined) {
        destination.new.shift()
        destination.tally.onlyNew++
        this.#found({ kind: 'onlyNew', node, time: after.time, new: after })
      } else return
    }
  }

  #moved(node: string, destination: Destination, before: DiffFiring, after: DiffFiring): void {
    destination.old.shift()
    destination.new.shift()
    destination.tally.moved++
    const time = Math.min(before.time, after.time)
    this.#found({ kind: 'moved', node, time, by: after.time - before.time, old: before, new: after })
  }
}
