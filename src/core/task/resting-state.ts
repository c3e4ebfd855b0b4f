/**
 * Stores the state of a running task that has been idle since it began or was restored, as a few numbers.
 *
 * RESTING-1 the full state that is created from it equals the original one in every field.
 */
import type { Graph } from '../graph/graph.ts'
import type { TaskRun } from './run.ts'
import type { SavedState } from './saved.ts'
import { TaskState } from './task-state.ts'

type Begun = Pick<TaskState, 'run' | 'startTime' | 'seed'>

interface Timed {
  readonly state: TaskState
  readonly now: number
  readonly at: number
}

const BLANK = new TaskState({ sensors: [], gates: [], actuators: [], groups: [] }, 0)
const FIELDS = Object.keys(BLANK) as readonly (keyof TaskState)[]
/** Fields that may differ from a task that never processed an input. */
const KEPT: ReadonlySet<string> = new Set(['status', 'run', 'startTime', 'seed', 'time', 'restoredAt'])
const KNOWN_FIELDS: ReadonlySet<string> = new Set<keyof SavedState>([
  'status',
  'run',
  'inputs',
  'effects',
  'invocations',
  'executions',
  'startTime',
  'lastExecutionTime',
  'finishedTime',
  'seed',
  'origins',
  'links',
  'sensors',
  'gates',
  'actuators',
  'streams',
])
const EQUAL = FIELDS.filter((field) => !KEPT.has(field))

class Rest {
  readonly now: number
  readonly isRestored: boolean
  /** the last value, shared: the tasks of a fleet are restored at few different times */
  static #last: Rest | undefined

  private constructor(now: number, isRestored: boolean) {
    this.now = now
    this.isRestored = isRestored
  }

  static at(now: number, isRestored: boolean): Rest {
    const last = Rest.#last
    if (last?.now === now && last.isRestored === isRestored) return last
    return (Rest.#last = new Rest(now, isRestored))
  }
}

export class RestingState {
  readonly run: number
  readonly startTime: number
  readonly #rest: Rest
  /** stored as a signed number, which V8 keeps without a heap object */
  readonly #seed: number

  private constructor({ run, startTime, seed }: Begun, rest: Rest) {
    this.run = run
    this.startTime = startTime
    this.#rest = rest
    this.#seed = seed | 0
  }

  get now(): number {
    return this.#rest.now
  }

  static of(timed: Timed): RestingState | undefined {
    const { state, now, at } = timed
    const isAtRest =
      state.work === null &&
      state.status === 'running' &&
      state.time === now &&
      at === now &&
      (state.restoredAt === BLANK.restoredAt || state.restoredAt === now) &&
      isSeed(state.seed) &&
      EQUAL.every((field) => isSame(state[field], BLANK[field]))
    return isAtRest ? new RestingState(state, Rest.at(now, state.restoredAt === now)) : undefined
  }

  /** Reads the saved state of a resting task; undefined if it was not at rest, or belongs to another rule. */
  static ofSaved(saved: SavedState, { byLabel }: Graph, now: number): RestingState | undefined {
    for (const key in saved) if (!KNOWN_FIELDS.has(key)) return undefined
    if (saved.status !== 'running' || !isSeed(saved.seed)) return undefined
    const hasDone = saved.inputs + saved.effects + saved.invocations + saved.executions !== 0
    const hasEnded = saved.lastExecutionTime !== -1 || saved.finishedTime !== -1
    if (hasDone || hasEnded || saved.origins.length + saved.links.length > 0 || !isBlank(saved.streams))
      return undefined
    for (const kind of ['sensor', 'gate', 'actuator'] as const) {
      const nodes = saved[`${kind}s`]
      for (const label in nodes) {
        if (byLabel.get(label)?.kind !== kind || !isBlank(nodes[label] ?? {})) return undefined
      }
    }
    return new RestingState(saved, Rest.at(now, true))
  }

  restore({ state }: Pick<TaskRun, 'state'>): void {
    state.status = 'running'
    state.run = this.run
    state.startTime = this.startTime
    state.seed = this.#seed >>> 0
    state.time = this.now
    if (this.#rest.isRestored) state.restoredAt = this.now
  }
}

function isSeed(seed: number): boolean {
  return seed >>> 0 === seed
}

function isBlank(saved: object): boolean {
  for (const _ in saved) return false
  return true
}

/** Compares two fields; empty lists count as equal. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || (Array.isArray(a) && Array.isArray(b) && a.length === 0 && b.length === 0)
}
