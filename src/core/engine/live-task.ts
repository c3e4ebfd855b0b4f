/** One task of an engine: its lane, its timers and its handle. All inputs go through `take`, one at a time. */
import { AppError } from '../../kernel/errors.ts'
import { seedOf } from '../../kernel/random.ts'
import type { Graph, GraphNode, SensorNode } from '../graph/graph.ts'
import { armTimeout, nextCall } from '../task/execution.ts'
import type { Seat } from '../quiet/seat.ts'
import type { Quiet } from '../quiet/quiet.ts'
import type { QuietFit } from '../quiet/shape.ts'
import type { Listener, QuietSource } from '../quiet/source.ts'
import { explain, type Explanation } from '../task/explain.ts'
import type { Input, TimerKind } from '../task/input.ts'
import { withoutRepeats } from '../task/invocation.ts'
import type { Message, Sent } from '../task/origin.ts'
import { restoreState } from '../task/restore.ts'
import type { TaskModel, TaskRun } from '../task/run.ts'
import { saveState } from '../task/save.ts'
import type { SavedState } from '../task/saved.ts'
import type { Execution, TaskStatus } from '../task/state.ts'
import { dueAt, step } from '../task/step.ts'
import { TaskState } from '../task/task-state.ts'
import type { NodeView, SavedTask, Task, TaskInfo } from './api.ts'
import { callPlug, type Outcome } from './call-plug.ts'
import type { Journal } from './journal.ts'
import type { Prepared } from './prepared.ts'
import { noNode, noSensor, notPossible, requirePushed } from './refusals.ts'
import { SeatedTask } from './seated-task.ts'
import { TaskHooks, type SharedHooks } from './task-hooks.ts'
import { nodeView, taskInfo } from './task-view.ts'
import { NO_TIMER, type TimerOwner } from './timer-table.ts'
import type { Listener as Watcher } from './watches.ts'

/** What a task needs of its engine. */
export interface TaskHost extends SharedHooks {
  readonly quiet: Quiet
  /** takes its turn after what is running now */
  enqueue(work: (now: number) => void): void
  now(): number
  /** a plug's promise is open; call what comes back when it settles */
  opened(): () => void
  /** the task does not run any more */
  ended(task: LiveTask): void
  report(what: string, error: unknown): void
  readonly journal: Journal | undefined
  readonly timed: (() => () => void) | undefined
}

export class LiveTask implements Task, TimerOwner, Listener {
  readonly id: string
  readonly order: number
  readonly createTime: number
  firstTimer = NO_TIMER
  prepared: Prepared
  /** resolved resources by place in the graph's list */
  resolved: readonly string[] = []
  error: string | undefined
  /** its place in a quiet lane; then `#state` is behind until somebody looks */
  seat: Seat | undefined
  #fit: QuietFit | null | undefined
  #run: TaskRun | undefined
  #state: TaskState | undefined
  readonly #host: TaskHost
  readonly #hooks: TaskHooks
  #failed = false

  constructor(id: string, order: number, createTime: number, prepared: Prepared, host: TaskHost) {
    this.id = id
    this.order = order
    this.createTime = createTime
    this.prepared = prepared
    this.#host = host
    this.#hooks = new TaskHooks(this, host)
  }

  /** Somebody watches this very task, or nobody does any more: null. A watched task goes the full way. */
  watch(watcher: Watcher | null): void {
    this.rise()
    this.#hooks.watch(watcher)
  }

  get name(): string {
    return this.prepared.settings.name
  }

  get status(): TaskStatus {
    if (this.#failed) return 'failed'
    return this.#state?.status ?? 'stopped'
  }

  get resources(): readonly string[] {
    return this.#run?.model.resources ?? []
  }

  /** Begins a run over a freshly resolved model; `number`: of that run, when the host counts them. */
  begin(model: TaskModel, seed: number, number?: number): void {
    this.#open(model)
    const run = this.#requireRun()
    if (number !== undefined) run.state.run = number - 1
    run.state.seed = seedOf(`${seed}/${this.id}/${run.state.run + 1}`)
    this.take(this.#host.now(), { kind: 'start' })
  }

  /** Goes on with a saved run. */
  reopen(model: TaskModel, saved: SavedState): void {
    this.#open(model)
    const run = this.#requireRun()
    run.now = this.#host.now()
    restoreState(run, saved)
    this.#callAll(run)
    this.#after(run)
  }

  /** Another rule for the same task: counters stay, node states are those of a task that never ran. */
  replace(prepared: Prepared): void {
    this.prepared = prepared
    this.#run = undefined
    this.#state = this.#freshState(prepared.graph, 0)
  }

  fail(error: string): void {
    this.#failed = true
    this.error = error
    this.#hooks.rare?.({
      time: this.#host.now(),
      task: this.id,
      invocation: this.#state?.invocations ?? 0,
      type: 'failed',
      error,
    })
  }

  /** One input and all that follows from it at once. */
  take(now: number, input: Input): void {
    this.rise()
    const run = this.#run
    if (run === undefined) return
    this.#host.counts.steps++
    try {
      step(run, now, input)
      this.#callAll(run)
    } catch (error) {
      this.#mistake(error)
    }
    this.#after(run)
  }

  /** Messages that arrived together: one invocation, unless a resource repeats; then the repeat begins another. */
  receive(now: number, messages: readonly Message[], sent?: Sent): void {
    if (messages.length === 1) return this.take(now, { kind: 'data', messages, sent })
    for (const part of withoutRepeats(messages)) this.take(now, { kind: 'data', messages: part, sent })
  }

  /** Whether messages of a resource on a channel run a sensor. */
  hears(resource: string, channel: string): boolean {
    if (this.#run === undefined) return false
    const { channelPlans, resources } = this.#run.model
    return (channelPlans.get(channel)?.[resources.indexOf(resource)]?.sensors.length ?? 0) > 0
  }

  get canBeQuiet(): boolean {
    // A journal that wants to be asked is asked before each call; rows call without asking.
    if (this.#run === undefined || this.#host.journal?.mayCall !== undefined || this.#hooks.isWatched) return false
    this.#fit ??= this.#host.quiet.fit(this.#run.model) ?? null
    return this.#fit !== null
  }

  sitDown(message: Message, source: QuietSource, now: number): void {
    const run = this.#run
    if (run === undefined || !this.#fit) return
    const seated = new SeatedTask(this, run, this.#hooks)
    this.seat = this.#host.quiet.sit(seated, this.#fit, message, source, now)
  }

  rise(): void {
    const { seat } = this
    if (seat === undefined) return
    seat.lane.rebuild(seat)
    this.#leave(seat)
  }

  /** A call that began quietly goes on in the fold. */
  goOn(execution: Execution, given: Outcome | Promise<Outcome>, now: number): void {
    const run = this.#run
    if (run === undefined) return
    run.now = now
    try {
      if (given instanceof Promise) this.#await(run, execution, given)
      else this.#settle(run, now, execution, given)
      this.#callAll(run)
    } catch (error) {
      this.#mistake(error)
    }
    this.#after(run)
  }

  /** What followed from such a call is done as far as possible: back to the row, unless something is open. */
  openedAndDone(seat: Seat, message: Message): void {
    if (this.seat === seat && !this.#host.quiet.canComeBack(seat, message)) this.#leave(seat)
  }

  #leave(seat: Seat): void {
    seat.lane.free(seat)
    seat.source.changed()
    this.seat = undefined
  }

  /** Brings the state up to date with what happened quietly. */
  #upToDate(): void {
    if (this.seat !== undefined) this.seat.lane.rebuild(this.seat)
  }

  /** A mistake of the engine's own stays in this task. */
  #mistake(error: unknown): void {
    this.#host.report(`task ${this.id}`, error)
  }

  #after(run: TaskRun): void {
    if (run.state.status !== 'running') this.#host.ended(this)
    this.#host.journal?.touched(this)
  }

  /** No more timers and calls; nothing is reported. */
  abandon(): void {
    if (this.seat !== undefined) this.#leave(this.seat)
    this.#host.timers.forget(this)
    this.#hooks.abortAll()
    this.#run = undefined
  }

  dueAt(kind: TimerKind, key: number): number {
    return this.#run === undefined ? Number.POSITIVE_INFINITY : dueAt(this.#run, kind, key)
  }

  fire(kind: TimerKind, key: number, now: number): void {
    this.take(now, { kind: 'timer', timer: kind, key })
  }

  push(label: string, value: { readonly state?: string; readonly rawData?: Record<string, unknown> }): void {
    const node = this.#sensor(label)
    requirePushed(label, value)
    const state = value.state === undefined ? -1 : node.states.indexOf(value.state)
    if (value.state !== undefined && state === -1) {
      const text = `State ${value.state} is invalid for node ${label} on task ${this.id}; it can be ${node.states.join(', ')}`
      throw new AppError('INVALID_STATE', text)
    }
    this.#requireRunning(`push to ${label}`)
    this.#host.enqueue((now) => this.take(now, { kind: 'push', node, state, rawData: value.rawData }))
  }

  run(label: string): void {
    const node = this.#sensor(label)
    this.#requireRunning(`run ${label}`)
    this.#host.enqueue((now) => this.take(now, { kind: 'run', node }))
  }

  resume(label: string): void {
    const node = this.#node(label)
    if (node.kind === 'gate')
      throw new AppError('NOT_FOUND', `node ${label} of task ${this.id} is a relation, which never pauses`)
    this.#requireRunning(`resume ${label}`)
    this.#host.enqueue((now) => this.take(now, { kind: 'resume', node }))
  }

  explain(label: string): Explanation {
    this.#upToDate()
    return explain(this.#requireRun(), label, this.#host.now())
  }

  node(label: string): NodeView {
    this.#upToDate()
    return nodeView(this.#node(label), this.#state?.shown())
  }

  info(): TaskInfo {
    this.#upToDate()
    return taskInfo(this, this.#state)
  }

  save(): SavedTask {
    this.#upToDate()
    const { rule, template, overrides } = this.prepared
    const { model, state } = this.#requireRun()
    return {
      format: 1,
      id: this.id,
      createTime: this.createTime,
      ...(template !== undefined && { template }),
      rule,
      ...(overrides.byStream.length + overrides.byData.length > 0 && { overrides }),
      resources: this.resolved,
      state: saveState(model, state),
    }
  }

  #open(model: TaskModel): void {
    this.#fit = undefined
    this.#failed = false
    this.error = undefined
    const state = this.#freshState(model.graph, model.resources.length)
    this.#state = state
    this.#run = { model, state, sink: this.#hooks, now: this.#host.now() }
  }

  #freshState(graph: Graph, resourceCount: number): TaskState {
    const state = new TaskState(graph, resourceCount)
    if (this.#state === undefined) return state
    const { run, invocations, executions, failures } = this.#state
    return Object.assign(state, { run, invocations, executions, failures })
  }

  #callAll(run: TaskRun): void {
    const { journal } = this.#host
    for (let execution = nextCall(run); execution !== undefined; execution = nextCall(run)) {
      const mayCall = journal?.mayCall === undefined || journal.mayCall(this, execution)
      const outcome = mayCall ? callPlug(run, execution, this.#hooks) : undefined
      if (outcome === undefined || outcome instanceof Promise) this.#await(run, execution, outcome)
      else this.#settle(run, run.now, execution, outcome)
    }
  }

  /** Without an outcome: it comes through `settle`. */
  #await(run: TaskRun, execution: Execution, outcome: Promise<Outcome> | undefined): void {
    armTimeout(run, execution)
    const { calls } = execution
    const { journal } = this.#host
    const end = this.#hooks.opened(execution, this.#host.opened())
    journal?.opened(this, execution)
    // A call that timed out, was superseded, or belongs to a run that ended has nothing to say any more.
    const isOver = () => this.#run !== run || !isOpen(run, execution, calls)
    const timed = outcome && this.#host.timed?.()
    // callPlug's promises never reject
    void outcome?.then((settled) => {
      timed?.()
      if (journal !== undefined && !isOver()) return journal.answered(this, execution, calls, settled)
      this.#host.enqueue((now) => {
        end()
        if (!isOver()) this.#goOnWith(run, execution, settled, now)
      })
    })
  }

  /** What the plug answered to a call of that number. Nothing, when nobody waits for it any more. */
  settle(id: number, call: number, outcome: Outcome): void {
    this.#host.enqueue((now) => {
      const [run, execution] = [this.#run, this.execution(id)]
      if (run && execution && isOpen(run, execution, call)) this.#goOnWith(run, execution, outcome, now)
    })
  }

  /** What is in flight under that number. */
  execution(id: number): Execution | undefined {
    for (const execution of this.#run?.state.work?.inFlight ?? []) if (execution.id === id) return execution
    return undefined
  }

  #goOnWith(run: TaskRun, execution: Execution, outcome: Outcome, now: number): void {
    this.#host.counts.steps++
    try {
      this.#settle(run, now, execution, outcome)
      this.#callAll(run)
    } catch (error) {
      this.#mistake(error)
    }
    this.#after(run)
  }

  #settle(run: TaskRun, now: number, execution: Execution, outcome: Outcome): void {
    this.#hooks.ended(execution)
    if (outcome.ok) step(run, now, { kind: 'answer', execution, answer: outcome })
    else step(run, now, { kind: 'error', execution, message: outcome.error })
  }

  #node(label: string): GraphNode {
    const node = this.prepared.graph.byLabel.get(label)
    if (node) return node
    throw noNode(this.id, label, this.prepared.graph)
  }

  #sensor(label: string): SensorNode {
    const node = this.#node(label)
    if (node.kind === 'sensor') return node
    throw noSensor(this.id, node)
  }

  #requireRun(): TaskRun {
    if (this.#run) return this.#run
    throw new AppError('WRONG_STATUS', `task ${this.id} has not been started`)
  }

  #requireRunning(action: string): void {
    if (this.status !== 'running') throw notPossible(action, this.status)
  }
}

function isOpen(run: TaskRun, execution: Execution, call: number): boolean {
  return execution.calls === call && execution.phase === 'called' && run.state.inFlight.has(execution)
}
