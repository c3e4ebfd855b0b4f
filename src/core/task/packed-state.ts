/**
 * Packs the saved state of a task that is running and idle since its restore, until an input arrives.
 *
 * PACKSTATE-1 only an idle state is packed: without work, queued inputs or timers.
 * PACKSTATE-2 a state that does not fit its rule is rejected at the restore, not at the first input.
 */
import { JsonPacker, type PackedJson, unpack } from '#kernel'
import type { Graph } from '../graph/graph.ts'
import { restoreState } from './restore.ts'
import type { TaskRun } from './run.ts'
import type { SavedState } from './saved.ts'

/** Fields of a saved state that contain unfinished inputs, calls and ticks. */
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
/** Fields that contain indexes of lists for `restoreState`; the packed form shows whether these indexes exist. */
const PLACES = ['origin', 'via', 'earlier', 'trigger']
const MAX_FORMS = 1_000

export class PackedState {
  readonly run: number
  readonly startTime: number
  readonly now: number
  readonly packed: PackedJson

  constructor({ run, startTime }: SavedState, now: number, packed: PackedJson) {
    this.run = run
    this.startTime = startTime
    this.now = now
    this.packed = packed
  }

  restore(run: TaskRun): void {
    restoreState(run, unpack(this.packed) as SavedState)
  }
}

export class StatePacker {
  readonly #packer = new JsonPacker(PLACES)
  /** forms that were restored and turned out idle */
  readonly #known = new WeakMap<Graph, Set<string>>()

  /** `resources`: resources of the task. Returns undefined if the state cannot be packed. */
  pack(saved: SavedState, resources: readonly string[], now: number): PackedState | undefined {
    if (saved.status !== 'running' || OPEN.some((field) => saved[field] !== undefined)) return undefined
    const packed = this.#packer.pack(saved, resources)
    return packed && new PackedState(saved, now, packed)
  }

  isKnown(graph: Graph, { packed }: PackedState): boolean {
    return this.#known.get(graph)?.has(packed.form) === true
  }

  note(graph: Graph, { packed }: PackedState): void {
    const known = this.#known.get(graph) ?? new Set<string>()
    this.#known.set(graph, known)
    if (known.size < MAX_FORMS) known.add(packed.form)
  }
}
