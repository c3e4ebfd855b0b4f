/** Compares two rules side by side over the same messages. */
import type { FiredEvent } from '../engine/events.ts'
import type { RuleGraph } from '../rule/rule.ts'
import { FiringMatcher, type DiffFiring, type DiffTally, type Difference, type Side } from './diff-firings.ts'
import { partingOf, type Parting, type PartingInput, type WatchedEvent, type Witness } from './diff-parting.ts'

export interface Compared {
  /** true if both runs fire the same destinations at the same times */
  readonly equal: boolean
  /** differences in order of time; only the first 10,000 */
  readonly differences: readonly Difference[]
  /** number of further differences */
  readonly more: number
  /** counts for each destination, including those without differences */
  readonly nodes: readonly DiffTally[]
  /** first divergence of nodes that both rules contain, possibly long before a firing; null: none */
  readonly parted: Parting | null
}

const MAX_DIFFERENCES = 10_000
/**
 * Maximum number of explanations, since searching the smallest change that would have fired a destination costs more
 * than the firing.
 */
const MAX_EXPLAINED = 500
export class Comparison {
  readonly #matcher: FiringMatcher
  readonly #differences: Difference[] = []
  #more = 0
  #explained = 0
  #parted: Parting | null = null
  /** labels that occur in both rules; undefined: all */
  #common: ReadonlySet<string> | undefined

  constructor(tolerance: number) {
    this.#matcher = new FiringMatcher(tolerance, (difference) => {
      if (this.#differences.length < MAX_DIFFERENCES) this.#differences.push(difference)
      else this.#more++
    })
  }

  expect(before: RuleGraph, after: RuleGraph): void {
    const newLabels = new Set(labelsOf(after))
    this.#common = new Set(labelsOf(before).filter((label) => newLabels.has(label)))
    for (const { triggers = [] } of [before, after])
      for (const { destinationLabel } of triggers) this.#matcher.declare(destinationLabel)
  }

  instant(
    time: number,
    input: PartingInput,
    events: Readonly<Record<Side, readonly WatchedEvent[]>>,
    witnesses: Readonly<Record<Side, Witness>>,
  ): void {
    this.#parted ??= partingOf(time, input, events, witnesses, (event) => this.#isCommon(event))
    const fired = { old: events.old.filter(isFired), new: events.new.filter(isFired) }
    if (fired.old.length + fired.new.length === 0) return
    this.#matcher.instant(fired.old, fired.new, (side, event) =>
      this.#single(event, witnesses[side === 'old' ? 'new' : 'old']),
    )
  }

  settle(now: number): void {
    this.#matcher.settle(now)
  }

  end(): Compared {
    this.#matcher.settle(Number.POSITIVE_INFINITY)
    const differences = this.#differences.sort((a, b) => a.time - b.time)
    const equal = differences.length === 0
    return { equal, differences, more: this.#more, nodes: this.#matcher.tallies, parted: this.#parted }
  }

  #single({ node, time, source, why }: FiredEvent, other: Witness): DiffFiring {
    const blocked = this.#explained < MAX_EXPLAINED ? other.blocked(node) : undefined
    if (blocked) this.#explained++
    return { time, source, ...(why && { why }), ...(blocked && { other: blocked }) }
  }

  #isCommon({ node }: WatchedEvent): boolean {
    return node === undefined || this.#common === undefined || this.#common.has(node)
  }
}

function isFired(event: WatchedEvent): event is FiredEvent {
  return event.type === 'fired'
}

function labelsOf({ sensors = [], relations = [], actuators = [] }: RuleGraph): readonly string[] {
  return [...sensors, ...relations, ...actuators].map(({ label }) => label)
}
