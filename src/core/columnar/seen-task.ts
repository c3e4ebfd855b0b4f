/**
 * Represents the task as an open actuator call sees it: its state at the firing, created when the call reads it or
 * before the full state moves on.
 */
import type { Sink, TaskModel, TaskRun } from '../task/run.ts'
import type { ActuatorState, Execution } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'

/** Creates the state, using the current run. */
type MakeState = (run: TaskRun) => TaskState

/** A task as a call sees it. */
export class SeenTask implements TaskRun {
  model: TaskModel
  readonly sink: Sink
  readonly now: number
  readonly at: number
  readonly started: Pick<TaskState, 'run' | 'seed'>
  #make: MakeState | undefined
  #state: TaskState | undefined

  constructor({ model, sink, now, at, state }: TaskRun, make: MakeState) {
    this.model = model
    this.sink = sink
    this.now = now
    this.at = at
    this.started = { run: state.run, seed: state.seed }
    this.#make = make
  }

  get state(): TaskState {
    this.make()
    return this.#state as TaskState // created above
  }

  set state(state: TaskState) {
    this.#make = undefined
    this.#state = state
  }

  /** Creates the state if it does not exist yet. */
  make(): void {
    if (this.#make !== undefined) this.state = this.#make(this)
  }
}

/** An actuator call fired by a row's last message, and the task that it sees. */
export interface RowEffect {
  readonly execution: Execution
  readonly seen: SeenTask
}

/** Creates what open calls see. Must be called before the full state moves. */
export function makeSeen({ open }: Pick<TaskState, 'open'>): void {
  for (const { seen } of open) if (seen instanceof SeenTask) seen.make()
}

/** Runs a function that moves a full state, and preserves the open calls in it. `acts`: as in a handle. */
export function besideEffects<T>(
  { task, acts }: { readonly task: { readonly state: TaskState }; readonly acts: boolean },
  move: () => T,
): T {
  const { state } = task
  if (!acts && state.inFlight.size === 0) return move()
  makeSeen(state)
  const ready = [...state.ready]
  state.ready.clear()
  const kept = acts ? state.actuators.map(({ answer, error }) => ({ answer, error })) : []
  const { time } = state
  try {
    return move()
  } finally {
    for (const [slot, one] of kept.entries()) Object.assign(state.actuators[slot] as ActuatorState, one)
    for (const execution of ready) state.ready.push(execution)
    state.time = Math.max(state.time, time)
  }
}
