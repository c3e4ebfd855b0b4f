/** Connects one task to the state machine and to its plug calls. */
import type { TaskExecutor } from './executor.ts'
import type { Ports } from '../ports.ts'
import type { TimerKind } from '../task/input.ts'
import { frozenRun, rebind } from '../task/frozen-run.ts'
import type { Origin } from '../task/origin.ts'
import type { Sink, TaskModel, TaskRun } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import type { Caller } from './call-plug.ts'
import type { Counting } from './counts.ts'
import { DETAIL_TYPES, PLAIN_TYPES, RARE_TYPES } from './event-filter.ts'
import type { EventSubscriptions } from './event-subscriptions.ts'
import type { RareEvent } from './events.ts'
import type { OpenCount } from './open-count.ts'
import type { Prepared } from './prepared.ts'
import type { RememberedReadings } from './remembered-readings.ts'
import type { TimerQueue } from './timer-queue.ts'
import type { TimerOwner } from './timer-table.ts'

interface TaskOwner extends TimerOwner {
  readonly executor: Pick<TaskExecutor, 'synchronize' | 'serve' | 'ahead'>
  readonly prepared: Prepared
}

export interface SharedHooks {
  readonly timers: TimerQueue
  readonly ports: Ports
  readonly globalSettings: Readonly<Record<string, unknown>>
  readonly why: boolean
  readonly detail: boolean
  readonly events: EventSubscriptions
  readonly onRare: ((event: RareEvent) => void) | undefined
  readonly counts: Counting
  readonly remembered: RememberedReadings
  /** id of the message or event that began each chain, by message, or by origin if it has no message */
  readonly roots: WeakMap<object, string>
  readonly open: OpenCount
}

/** One object for both roles saves memory. */
export class TaskHooks implements Sink, Caller {
  readonly #owner: TaskOwner
  readonly #host: SharedHooks
  /** created when a plug first asks for its signal: most tasks never do */
  #aborts: Map<Execution, AbortController> | undefined
  types = 0

  constructor(owner: TaskOwner, host: SharedHooks) {
    this.#owner = owner
    this.#host = host
  }

  opened(execution: Execution): void {
    execution.isOpen = true
    this.#host.open.opened()
  }

  closed(execution: Execution): void {
    if (!execution.isOpen) return
    execution.isOpen = false
    this.#host.open.closed()
  }

  ended(execution: Execution): void {
    this.#aborts?.delete(execution)
    this.closed(execution)
  }

  get event(): Sink['event'] {
    return this.#hasSubscriber(PLAIN_TYPES) ? this.#host.events.emitPlain : null
  }

  get detail(): Sink['detail'] {
    return this.#host.detail && this.#hasSubscriber(DETAIL_TYPES) ? this.#host.events.emitPlain : null
  }

  get lifecycle(): Sink['lifecycle'] {
    const { onRare, events } = this.#host
    const event = this.#hasSubscriber(RARE_TYPES) ? events.emitPlain : null
    if (onRare === undefined || event === null) return onRare ?? event
    return (loss) => {
      event(loss)
      onRare(loss)
    }
  }

  get counts(): Sink['counts'] {
    return this.#host.counts
  }

  get why(): boolean {
    return this.#host.why && this.#host.events.keepsWhy
  }

  remembered(count: number): void {
    this.#host.remembered.added(count)
  }

  #hasSubscriber(types: number): boolean {
    return ((this.types | this.#host.events.types) & types) !== 0
  }

  rootOf(origin: Origin, first: string): string {
    const arrival = origin.values ?? origin
    const { roots } = this.#host
    const known = roots.get(arrival)
    if (known === undefined) roots.set(arrival, first)
    return known ?? first
  }

  timer(kind: TimerKind, at: number, key: number): void {
    this.#host.timers.set(this.#owner, kind, at, key)
  }

  cancelled(execution: Execution): void {
    const abort = this.#aborts?.get(execution)
    this.ended(execution)
    abort?.abort()
  }

  get ports(): Ports {
    return this.#host.ports
  }

  get globalSettings(): Readonly<Record<string, unknown>> {
    return this.#host.globalSettings
  }

  get streamVariables(): readonly string[] {
    return this.#owner.prepared.overrides.byStream
  }

  get dataVariables(): readonly string[] {
    return this.#owner.prepared.overrides.byData
  }

  seenBy(execution: Execution): TaskRun | undefined {
    return (execution.seen ?? undefined) as TaskRun | undefined
  }

  newest(known: number): number {
    return known + this.#owner.executor.ahead
  }

  upToDate(): void {
    this.#owner.executor.synchronize()
  }

  serve(): void {
    this.#owner.executor.serve(false)
  }

  frozen(run: TaskRun, execution: Execution): TaskRun {
    return (execution.seen ??= frozenRun(run)) as TaskRun
  }

  change(model: TaskModel, executions: Iterable<Execution>): void {
    for (const execution of executions) {
      const seen = this.seenBy(execution)
      if (seen !== undefined) rebind(seen, model)
    }
  }

  /** Returns the abort signal of a call; aborted for a completed call, even if the plug asks for it only then. */
  signalOf(execution: Execution, call: number): AbortSignal {
    const isOver = !execution.isInFlight || execution.phase !== 'called' || execution.calls !== call
    if (isOver) return AbortSignal.abort()
    this.#aborts ??= new Map()
    let abort = this.#aborts.get(execution)
    if (abort === undefined) this.#aborts.set(execution, (abort = new AbortController()))
    return abort.signal
  }
}
