/**
 * Rehearses a rule over messages, side by side with another rule and with variants of itself: returns counts per node,
 * the difference to the other rule, and the firings of each variant. Memory does not grow with the number of messages.
 */
import type { Task } from '../engine/api.ts'
import type { EngineEvent, HeldReason } from '../engine/events.ts'
import type { Compared } from './diff-comparison.ts'
import { type DiffOptions, LaneComparison } from './diff.ts'
import {
  type Lane,
  type MessageIterator,
  play,
  type PlaybackHooks,
  type Played,
  type PlaybackOptions,
} from './playback.ts'

/** A rule of a rehearsal, compiled with its own plugs. */
export type RehearsedLane = Pick<Lane, 'rule' | 'settings' | 'preparer'>

export interface RehearseOptions extends PlaybackOptions, DiffOptions {
  readonly compareWith?: RehearsedLane | undefined
  readonly variants?: readonly RehearsedLane[]
  /** used instead of `messages` */
  readonly source?: MessageIterator
  /** plays the lanes: the rule, the other rule if there is one, and the variants; default `play` */
  readonly player?: (lanes: readonly Lane[], hooks: PlaybackHooks) => Promise<Played>
  /** receives events of the rule itself, not of the other rule or variants */
  readonly onEvent?: (event: EngineEvent) => void
}

/** Counts what a node did. */
export interface NodeCounts {
  readonly node: string
  /** number of calls of its plug */
  runs: number
  /** number of changes of its state, including the first; a renewed observation does not count */
  changes: number
  /** number of failed calls */
  errors: number
  fired: number
  readonly held: Partial<Record<HeldReason, number>>
}

export interface Rehearsed extends Omit<Played, 'tasks'> {
  readonly nodes: readonly NodeCounts[]
  readonly comparison?: Compared
  /** numbers of firings, by variant */
  readonly fired: readonly number[]
}

/** Runs the rehearsal. Throws like `simulate`, and `VALIDATION` for an invalid tolerance. */
export async function rehearse(rule: RehearsedLane, options: RehearseOptions): Promise<Rehearsed> {
  const { compareWith, variants = [], source, onEvent, tolerance, player, ...playback } = options
  const nodes = new NodeTally()
  const fired = variants.map(() => 0)
  const comparison = compareWith && new LaneComparison(tolerance)
  const compare = comparison?.listener('new')
  const lanes: Lane[] = [
    {
      ...rule,
      onEvent: (event) => {
        nodes.note(event)
        onEvent?.(event)
        compare?.(event)
      },
    },
    ...(compareWith && comparison
      ? [{ ...compareWith, name: 'the other rule', onEvent: comparison.listener('old') }]
      : []),
    ...variants.map((variant, i) => ({
      ...variant,
      why: false,
      onFired: () => void (fired[i] = (fired[i] ?? 0) + 1),
    })),
  ]
  const hooks: PlaybackHooks = {
    source,
    ...(comparison && {
      onStep: (step, [newTask, oldTask]) => comparison.step(step, oldTask as Task, newTask as Task),
    }),
  }
  const { tasks: _tasks, ...played } = await (player === undefined
    ? play(lanes, playback, hooks)
    : player(lanes, hooks))
  return { ...played, nodes: nodes.counts, ...(comparison && { comparison: comparison.end() }), fired }
}

class NodeTally {
  readonly #byNode = new Map<string, NodeCounts>()
  /** last known state of each node */
  readonly #states = new Map<string, string>()

  get counts(): readonly NodeCounts[] {
    return [...this.#byNode.values()]
  }

  note(event: EngineEvent): void {
    const { type } = event
    if (type === 'result') {
      const counts = this.#of(event.node)
      counts.runs++
      if (!event.ok) counts.errors++
    } else if (type === 'state' || type === 'gate') {
      if (event.to === null || this.#states.get(event.node) === event.to) return
      this.#states.set(event.node, event.to)
      this.#of(event.node).changes++
    } else if (type === 'fired') this.#of(event.node).fired++
    else if (type === 'held') {
      const { held } = this.#of(event.node)
      held[event.reason] = (held[event.reason] ?? 0) + 1
    }
  }

  #of(node: string): NodeCounts {
    const known = this.#byNode.get(node)
    if (known !== undefined) return known
    const made: NodeCounts = { node, runs: 0, changes: 0, errors: 0, fired: 0, held: {} }
    this.#byNode.set(node, made)
    return made
  }
}
