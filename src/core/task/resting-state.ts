/**
 * The state of a task that runs and has had nothing to do since it began or came back: a few numbers. Most of a large
 * fleet waits for its first message, and its full state is made when that comes.
 *
 * RESTING-1 the full state that is made of it is the one that it was made of, in every field.
 */
import type { Graph } from '../graph/graph.ts'
import { TaskState } from './task-state.ts'

/** A state, and the times of the input at hand: the rule's and the clock's. */
interface Timed {
  readonly state: TaskState
  readonly now: number
  readonly at: number
}

const BLANK = new TaskState({ sensors: [], gates: [], actuators: [] }, 0)
const FIELDS = Object.keys(BLANK) as readonly (keyof TaskState)[]
/** What may be another than in a task that never ran. */
const KEPT: ReadonlySet<string> = new Set(['status', 'run', 'startTime', 'seed', 'time', 'restoredAt'])
const EQUAL = FIELDS.filter((field) => !KEPT.has(field))

export class RestingState {
  readonly run: number
  readonly startTime: number
  /** the rule's time and the clock's, epoch ms */
  readonly now: number
  readonly #isRestored: boolean
  /** as a signed number, which costs no box */
  readonly #seed: number

  private constructor({ state, now }: Timed) {
    this.run = state.run
    this.startTime = state.startTime
    this.now = now
    this.#isRestored = state.restoredAt === now
    this.#seed = state.seed | 0
  }

  /** Undefined for a task that is not at rest. */
  static of(timed: Timed): RestingState | undefined {
    const { state, now, at } = timed
    const isAtRest =
      state.work === null &&
      state.status === 'running' &&
      state.time === now &&
      at === now &&
      (state.restoredAt === BLANK.restoredAt || state.restoredAt === now) &&
      state.seed >>> 0 === state.seed &&
      EQUAL.every((field) => isSame(state[field], BLANK[field]))
    return isAtRest ? new RestingState(timed) : undefined
  }

  full(graph: Graph, resourceCount: number): TaskState {
    const state = new TaskState(graph, resourceCount)
    state.status = 'running'
    state.run = this.run
    state.startTime = this.startTime
    state.seed = this.#seed >>> 0
    state.time = this.now
    if (this.#isRestored) state.restoredAt = this.now
    return state
  }
}

/** Empty lists are one. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || (Array.isArray(a) && Array.isArray(b) && a.length === 0 && b.length === 0)
}
