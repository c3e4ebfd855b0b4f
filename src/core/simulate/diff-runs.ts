/** Compares the recorded events of two finished runs. */
import type { EngineEvent } from '../engine/events.ts'
import { heldText } from '../sentences/reasons.ts'
import type { TriggerExplanation } from '../task/explain.ts'
import { toleranceMs, type Diff, type DiffOptions } from './diff.ts'
import { Comparison } from './diff-comparison.ts'
import type { Side } from './diff-firings.ts'
import { isWatched, type PartingInput, type WatchedEvent, type Witness } from './diff-parting.ts'
import type { Run } from './simulate.ts'

/**
 * Compares recorded events. For a firing that one run lacks, it only reports whether the firing was held back in that
 * run; `diffRules` runs the rules again and explains more. Throws `VALIDATION` for an invalid tolerance.
 */
export function diffRuns(before: DiffedRun, after: DiffedRun, options: DiffOptions = {}): Diff {
  const comparison = new Comparison(toleranceMs(options.tolerance))
  const old = new RecordedRun(before.events)
  const fresh = new RecordedRun(after.events)
  for (let time = Math.min(old.nextAt, fresh.nextAt); time < Infinity; time = Math.min(old.nextAt, fresh.nextAt)) {
    const events: Record<Side, readonly WatchedEvent[]> = { old: old.take(time), new: fresh.take(time) }
    comparison.instant(time, old.input ?? fresh.input ?? { kind: 'clock' }, events, { old, new: fresh })
    comparison.settle(time)
  }
  const from = Math.min(before.from, after.from)
  const until = Math.max(before.until, after.until)
  const { messages, late } = after
  return { ...comparison.end(), messages, late, from, until }
}

export type DiffedRun = Pick<Run, 'events' | 'messages' | 'late' | 'from' | 'until'>

class RecordedRun implements Witness {
  /** input of the last instant, if the events show it */
  input: PartingInput | undefined
  readonly #events: readonly EngineEvent[]
  readonly #states = new Map<string, string | null>()
  #next = 0
  #instant: readonly WatchedEvent[] = []

  constructor(events: readonly EngineEvent[]) {
    this.#events = events
  }

  get nextAt(): number {
    return this.#events[this.#next]?.time ?? Number.POSITIVE_INFINITY
  }

  /** Returns the compared events of the given instant, which must be the next one. */
  take(time: number): readonly WatchedEvent[] {
    const taken: WatchedEvent[] = []
    this.input = undefined
    for (; this.nextAt <= time; this.#next++) {
      const event = this.#events[this.#next]
      if (event?.type === 'data') {
        const { resource, values } = event
        this.input = { kind: 'message', message: { ...values, resource } }
      } else if (event?.type === 'started') this.input = { kind: 'start' }
      if (event === undefined || !isWatched(event)) continue
      taken.push(event)
      if (event.type === 'state' || event.type === 'gate') this.#states.set(event.node, event.to)
      else if (event.type === 'evicted') this.#states.set(event.node, null)
    }
    this.#instant = taken
    return taken
  }

  blocked(node: string): readonly TriggerExplanation[] | undefined {
    const held = this.#instant.filter((event) => event.type === 'held').filter((event) => event.node === node)
    if (held.length === 0) return undefined
    return held.map(({ source = node, reason, until }) => ({
      source,
      condition: '',
      blocked: [
        {
          reason: reason === 'invocationPolicy' ? ('cool-down' as const) : ('overlap' as const),
          node,
          message: heldText({ node, reason }),
          ...(until !== undefined && { until }),
        },
      ],
      needs: [],
      ways: [],
    }))
  }

  state(node: string): { state: string | null } {
    return { state: this.#states.get(node) ?? null }
  }
}
