/** What one task hands to the fold and to its plug calls. Classes, not closures: a fleet has one of each per task. */
import type { Ports } from '../ports.ts'
import type { TimerKind } from '../task/input.ts'
import type { Sink } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'
import type { Caller } from './call-plug.ts'
import type { Counting } from './counts.ts'
import type { RareEvent } from './events.ts'
import type { OpenCalls } from './open-calls.ts'
import type { VariableOverrides } from './prepare.ts'
import type { TimerQueue } from './timer-queue.ts'
import type { TimerOwner } from './timer-table.ts'
import type { Listener } from './watches.ts'

/** What the tasks of an engine share. */
export interface SharedHooks {
  readonly timers: TimerQueue
  readonly ports: Ports
  readonly globalSettings: Readonly<Record<string, unknown>>
  readonly why: boolean
  readonly detail: boolean
  /** null while nobody listens */
  readonly listener: Listener | null
  /** always there when it is there at all */
  readonly onRare: ((event: RareEvent) => void) | undefined
  readonly counts: Counting
}

/** Events, timers and superseded calls of a task, passed on to its engine. */
export class TaskSink implements Sink {
  readonly #owner: TimerOwner
  readonly #host: SharedHooks
  readonly #calls: OpenCalls
  /** while somebody watches this very task: tells that one, and who listens to all tasks */
  #watched: Listener | null = null

  constructor(owner: TimerOwner, host: SharedHooks, calls: OpenCalls) {
    this.#owner = owner
    this.#host = host
    this.#calls = calls
  }

  get event(): Sink['event'] {
    return this.#watched ?? this.#host.listener
  }

  get detail(): Sink['detail'] {
    return this.#host.detail ? this.event : null
  }

  get rare(): Sink['rare'] {
    const { event } = this
    const { onRare } = this.#host
    if (onRare === undefined || event === null) return onRare ?? event
    return (told) => {
      onRare(told)
      event(told)
    }
  }

  get counts(): Sink['counts'] {
    return this.#host.counts
  }

  get why(): boolean {
    return this.#host.why
  }

  get isWatched(): boolean {
    return this.#watched !== null
  }

  watch(watcher: Listener | null): void {
    const host = this.#host
    this.#watched =
      watcher &&
      ((event) => {
        host.listener?.(event)
        watcher(event)
      })
  }

  timer(kind: TimerKind, at: number, key: number, place = key): void {
    this.#host.timers.ask(this.#owner, kind, at, key, place)
  }

  cancelled(execution: Execution): void {
    this.#calls.abort(execution)
  }
}

/** What the plugs of a task can ask of its engine during one run. */
export class TaskCaller implements Caller {
  readonly #host: SharedHooks
  readonly #state: TaskState
  readonly #calls: OpenCalls
  readonly #overrides: VariableOverrides

  constructor(host: SharedHooks, state: TaskState, calls: OpenCalls, overrides: VariableOverrides) {
    this.#host = host
    this.#state = state
    this.#calls = calls
    this.#overrides = overrides
  }

  get ports(): Ports {
    return this.#host.ports
  }

  get globalSettings(): Readonly<Record<string, unknown>> {
    return this.#host.globalSettings
  }

  get streamVariables(): readonly string[] {
    return this.#overrides.byStream
  }

  get dataVariables(): readonly string[] {
    return this.#overrides.byData
  }

  /** A call that is over has an aborted signal, also when the plug asks for it only then. */
  signalOf(execution: Execution, call: number): AbortSignal {
    const isOver = !this.#state.inFlight.has(execution) || execution.phase !== 'called' || execution.calls !== call
    return isOver ? AbortSignal.abort() : this.#calls.signalOf(execution)
  }
}
