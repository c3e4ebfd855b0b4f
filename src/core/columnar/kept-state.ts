/** A copy of a task's full state at rest, for when somebody looks at it in the middle of a message. */
import type { TaskState } from '../task/task-state.ts'

export class KeptState {
  readonly #state: TaskState
  readonly #own: Partial<TaskState>
  readonly #nodes: readonly { readonly node: object; readonly copy: object }[]
  readonly #streams: readonly TaskState['streams'][number][]
  readonly #inFlight: ReadonlySet<object>

  /** Of a state in which nothing is open but calls that act, and no reading waits. */
  constructor(state: TaskState) {
    this.#state = state
    this.#own = Object.assign({}, state, { readings: state.readings?.copy() ?? null })
    const { sensors, gates, actuators, streams } = state
    this.#nodes = [...sensors, ...gates, ...actuators].map((node) => ({ node, copy: { ...node } }))
    this.#streams = streams.map((stream) => stream && { ...stream })
    this.#inFlight = new Set(state.inFlight)
  }

  /** Makes the state what it was. */
  restore(): void {
    const state = this.#state
    Object.assign(state, this.#own, { readings: this.#own.readings?.copy() ?? null })
    for (const { node, copy } of this.#nodes) Object.assign(node, copy)
    for (const [i, stream] of this.#streams.entries()) state.streams[i] = stream && { ...stream }
    for (const execution of state.inFlight) if (!this.#inFlight.has(execution)) state.inFlight.delete(execution)
    state.calls.clear()
  }
}
