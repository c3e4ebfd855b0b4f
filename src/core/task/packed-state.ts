/**
 * The saved state of a task that runs, came back with it, and has had nothing to do since: kept small until an input
 * comes. After a restart that is most of a large fleet.
 *
 * PACKSTATE-1 only a state that asks for nothing by itself is kept so: nothing is at work, waits, or has a timer.
 * PACKSTATE-2 a state that its rule does not fit is refused when it comes back, not at the first input.
 */
import { JsonPacker, type PackedJson, unpack } from '#kernel'
import type { Graph } from '../graph/graph.ts'
import { restoreState } from './restore.ts'
import type { TaskRun } from './run.ts'
import type { SavedState } from './saved.ts'

/** What a saved state has of inputs, calls and ticks that are not over. */
const OPEN = [
  'nextTickAt',
  'clocksBegan',
  'evaluation',
  'executing',
  'calls',
  'behind',
  'now',
  'waiting',
] as const satisfies readonly (keyof SavedState)[]
/** Numbers that are places in lists, as `restoreState` looks them up: whether they are there shows in the form. */
const PLACES = ['origin', 'via', 'earlier', 'trigger']
/** forms of states that are known of a rule */
const MAX_FORMS = 1_000

export class PackedState {
  readonly run: number
  readonly startTime: number
  /** when it came back, epoch ms */
  readonly now: number
  readonly packed: PackedJson

  constructor({ run, startTime }: SavedState, now: number, packed: PackedJson) {
    this.run = run
    this.startTime = startTime
    this.now = now
    this.packed = packed
  }

  /** Makes the state of a run, which is a fresh one, what it was. */
  restore(run: TaskRun): void {
    restoreState(run, unpack(this.packed) as SavedState)
  }
}

/** Packs the states of an engine, and knows which of them need not be restored to be believed. */
export class StatePacker {
  readonly #packer = new JsonPacker(PLACES)
  /** of states that were restored, and asked for nothing */
  readonly #known = new WeakMap<Graph, Set<string>>()

  /** `resources`: of the task. Undefined: it is not one that can be kept so. */
  pack(saved: SavedState, resources: readonly string[], now: number): PackedState | undefined {
    if (saved.status !== 'running' || OPEN.some((field) => saved[field] !== undefined)) return undefined
    const packed = this.#packer.pack(saved, resources)
    return packed && new PackedState(saved, now, packed)
  }

  /** Whether one of that form was restored for the rule before, and had neither faults nor timers. */
  isKnown(graph: Graph, { packed }: PackedState): boolean {
    return this.#known.get(graph)?.has(packed.form) === true
  }

  /** It was restored, and has neither. */
  note(graph: Graph, { packed }: PackedState): void {
    const known = this.#known.get(graph) ?? new Set<string>()
    this.#known.set(graph, known)
    if (known.size < MAX_FORMS) known.add(packed.form)
  }
}
