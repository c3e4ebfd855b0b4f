/**
 * Runs many tasks on one clock, one piece of work at a time; the only impure part of the core.
 *
 * Work that arrives meanwhile (a subscriber or plug calls `receive`) waits in a bounded queue. Timers that are due act
 * before work that arrives at the same instant.
 */
import type { Observable, SchedulerLike } from 'rxjs'
import { AppError, messageOf } from '#kernel'
import type { PlugRegistry } from '../plug/plug.ts'
import { createRegistry } from '../plug/registry.ts'
import type { Ports } from '../ports.ts'
import type { Rule, TaskSettings, Template } from '../rule/rule.ts'
import { StatePacker } from '../task/packed-state.ts'
import { WorkPacker } from '../task/packed-work.ts'
import type { CarriedOver } from '../task/carry-over.ts'
import type { Explanation } from '../task/explain.ts'
import type { Lost } from '../task/lost.ts'
import type { Message, Sent } from '../task/origin.ts'
import type { Changed, Engine, EngineOptions, SavedTask, StartSettings, Task } from './api.ts'
import type { BeginOptions, ChangeOptions, KeptMessages, RestoreOptions, TaskOrigin } from './host-control.ts'
import { Clocks } from './clocks.ts'
import { noCounts, type Counts } from './counts.ts'
import { Delays } from './delays.ts'
import { type PendingFlush, ReentrancyQueue, type Work } from './reentrancy-queue.ts'
import type { Executor, MessageSource } from './executor.ts'
import { EventHistory, type TaskHistory } from './event-history.ts'
import { type CountsKind, EventSubscriptions } from './event-subscriptions.ts'
import type { EventFilter } from './event-filter.ts'
import { guarded } from './event-stream.ts'
import { StateCache } from './state-cache.ts'
import type { FiredEvent } from './events.ts'
import { LiveTask, type TaskHost } from './live-task.ts'
import { isOne, messagesByTask } from './messages.ts'
import { newExecutor } from './new-executor.ts'
import { OpenCount } from './open-count.ts'
import { buildModel, limitsOf, resolveResources, restoredResources, type ModelLimits } from './model.ts'
import { resolveMembers } from './membership.ts'
import { Preparer } from './prepare.ts'
import type { Prepared } from './prepared.ts'
import { closedError, requireFormat, requireMessages, requireResources, taskExists, wrongStatus } from './refusals.ts'
import { MAX_REMEMBERED, RememberedReadings } from './remembered-readings.ts'
import { Router } from './router.ts'
import { RunNumbers } from './run-numbers.ts'
import type { EngineStats } from './stats.ts'
import { TimerQueue } from './timer-queue.ts'

const BUSY = 1
/** Set when subscribers to details of all tasks require every message to be processed on the full state. */
const DETAIL = 2
const CLOSED = 4

export class CoreEngine implements Engine {
  readonly #options: EngineOptions
  readonly #ports: Ports
  readonly #preparer: Preparer
  readonly #limits: ModelLimits
  readonly #events: EventSubscriptions
  readonly #history: EventHistory | undefined
  readonly #timers: TimerQueue
  readonly #clocks: Clocks
  readonly #executor: Executor
  /** current time, epoch ms; in an array because storing a number there allocates nothing */
  readonly #latest = Float64Array.of(Number.NEGATIVE_INFINITY)
  readonly #scheduler: SchedulerLike
  readonly delays: Delays
  readonly #router = new Router<LiveTask, MessageSource<LiveTask>>((resource) => this.#executor.source(resource))
  readonly #tasks = new Map<string, LiveTask>()
  readonly #host: TaskHost
  readonly #end: PendingFlush = { hasWork: false }
  readonly #waiting = new ReentrancyQueue(this.#end)
  readonly #fullStates: StateCache
  #detours = 0
  #order = 0
  readonly #open = new OpenCount()
  readonly #inputs = { count: 0, maxLag: 0 }
  readonly kept: KeptMessages = { position: 0, messages: undefined }
  readonly #counts = noCounts()
  readonly remembered: RememberedReadings
  readonly #runs = new RunNumbers()

  /** `registry`: for plugs that change while the engine runs. `preparer`: shared by engines, to compile a rule once. */
  constructor(
    options: EngineOptions,
    registry: PlugRegistry = createRegistry(options.plugs),
    preparer: Preparer = new Preparer(registry, options),
  ) {
    this.#options = options
    this.#history = options.history && new EventHistory(options.history, options.detail ?? true)
    this.#events = new EventSubscriptions({
      report: (error) => this.#report('a subscriber threw', error),
      changed: (task) => this.#listenersChanged(task),
      end: this.#end,
      isBusy: () => this.#isBusy,
      detail: options.detail ?? true,
      history: this.#history,
    })
    this.#ports = options.ports ?? {}
    this.#preparer = preparer
    this.#limits = limitsOf(options)
    this.#clocks = new Clocks(options.runsAtStart)
    this.#timers = new TimerQueue(options.scheduler, () => this.#enqueue(() => undefined), options)
    this.#fullStates = new StateCache(this.#end, options.fullStates)
    const { onRare, journal, timed, maxRemembered: most = MAX_REMEMBERED } = options
    this.#executor = newExecutor({
      globalSettings: options.globalSettings ?? {},
      counts: this.#counts,
      keepsLog: onRare !== undefined,
      asksForCalls: options.latency !== undefined || journal?.mayCall !== undefined,
      tellsOfCalls: journal !== undefined || timed !== undefined,
      generate: options.generate,
      end: this.#end,
      open: this.#open,
      enqueue: (work) => this.#enqueue(work),
      why: options.why ?? true,
      keeps: this.#history,
      events: this.#events,
    })
    this.#scheduler = options.scheduler
    const now = journal === undefined ? () => this.#now() : undefined
    this.remembered = new RememberedReadings(this.#tasks, this.#counts, { most, window: this.#limits.dedupWindow, now })
    this.delays = new Delays(options.scheduler)
    this.#host = {
      executor: this.#executor,
      timers: this.#timers,
      ports: this.#ports,
      globalSettings: options.globalSettings ?? {},
      why: options.why ?? true,
      detail: options.detail ?? true,
      events: this.#events,
      onRare: onRare && guarded(onRare, (error) => this.#report('onRare threw', error)),
      counts: this.#counts,
      remembered: this.remembered,
      timed,
      enqueue: (work) => this.#enqueue(work),
      now: () => this.#now(),
      model: ({ id, prepared, resolved }, start) =>
        buildModel(id, prepared, resolved, start, this.#limits, this.#clocks),
      open: this.#open,
      delay: (ms, work) => this.delays.add(ms, work),
      latency: options.latency,
      waiting: this.#inputs,
      roots: new WeakMap(),
      kept: this.kept,
      later: new WeakSet(),
      packer: new StatePacker(),
      workPacker: new WorkPacker(),
      fullStates: this.#fullStates,
      ended: (task) => {
        this.#timers.forget(task)
        this.#router.remove(task)
      },
      joined: (task, member) => this.#router.join(task, member),
      left: (task, member) => this.#router.leave(task, member),
      report: (what, error) => this.#report(what, error),
      journal: options.journal,
    }
  }

  get events$(): Engine['events$'] {
    return this.events()
  }

  get fired$(): Engine['fired$'] {
    return this.events({ types: ['fired'] }) as Observable<FiredEvent>
  }

  events(filter: EventFilter = {}): Engine['events$'] {
    return this.#events.events(filter)
  }

  eventBatches(filter: EventFilter = {}, countsKind?: CountsKind): ReturnType<Engine['eventBatches']> {
    return this.#events.batches(filter, countsKind)
  }

  history(task: string, after?: number): TaskHistory {
    this.#tasks.get(task)?.executor.handOver()
    return this.#history?.of(task, after) ?? { events: [], last: 0, isWhole: true }
  }

  get counts(): Counts {
    return this.#executor.counted(this.#counts)
  }

  stats(): EngineStats {
    return this.#executor.stats()
  }

  get tasks(): ReadonlyMap<string, LiveTask> {
    return this.#tasks
  }

  async start(rule: Rule | Template | string, settings: StartSettings = {}): Promise<Task> {
    this.#requireOpen()
    if (typeof rule === 'string') return this.#startAgain(this.#task(rule))
    const { id: chosenId, ...rest } = settings
    const prepared = this.#preparer.prepare(rule, rest, this.#options)
    const id = chosenId ?? this.#options.ids()
    if (this.#tasks.has(id)) throw taskExists(id, 'choose another id')
    const task = this.#made(id, this.#now(), prepared)
    task.ranBefore = this.#runs.lastOf(id, chosenId === undefined)
    this.#tasks.set(id, task)
    try {
      if (prepared.settings.start) await this.#begin(task)
    } catch (error) {
      if (this.#tasks.get(id) === task) this.#tasks.delete(id)
      throw error
    }
    return task
  }

  /** Begins a run whose number and resolved resources the host supplies. `VALIDATION`, `SCHEDULE`. */
  async begin(of: TaskOrigin, { id, run, createTime, resources }: BeginOptions): Promise<LiveTask> {
    this.#requireOpen()
    if (this.#tasks.has(id)) throw taskExists(id, 'remove it first')
    const task = this.#made(id, createTime, this.#preparedOf(of))
    await this.#turn((now) => this.#launch(task, resources, now, run))
    this.#tasks.set(id, task)
    return task
  }

  #preparedOf({ source, settings, preparer = this.#preparer }: TaskOrigin): Prepared {
    return preparer.prepare(source, settings)
  }

  listenersOf(resource: string, channel?: string): Iterable<LiveTask> {
    const all = this.#router.sourceOf(resource)?.listeners ?? []
    return channel === undefined ? all : [...all].filter((task) => task.runsOn(resource, channel))
  }

  async stop(id: string): Promise<Task> {
    const task = this.#task(id)
    if (task.status !== 'running') throw wrongStatus('stop', task)
    await this.#turn((now) => task.take(now, { kind: 'stop' }))
    return task
  }

  async update(id: string, rule: Rule | Template, settings: TaskSettings = {}): Promise<Task> {
    const task = this.#task(id)
    const prepared = this.#preparer.prepare(rule, settings, this.#options)
    const wasRunning = task.status === 'running'
    const wanted = settings.start ?? ('task' in rule ? rule.task?.start : undefined) ?? wasRunning
    if (wasRunning && wanted) return (await this.change(id, rule, settings)).task
    if (wasRunning) await this.stop(id)
    task.replace(prepared)
    if (wanted) await this.#startAgain(task)
    return task
  }

  async change(id: string, rule: Rule | Template, settings: TaskSettings = {}): Promise<Changed> {
    const { task, prepared, resolved } = await this.#toChange(id, rule, settings)
    const members = await resolveMembers(prepared, this.#ports)
    const lost = await this.#change(task, prepared, resolved)
    if (members.length > 0) await this.#turn((now) => task.completeMembers(now, members))
    return { task, lost }
  }

  async whatChanges(id: string, rule: Rule | Template, settings: TaskSettings = {}): Promise<readonly Lost[]> {
    const { task, prepared, resolved } = await this.#toChange(id, rule, settings)
    requireRunning(task, 'change')
    return this.#carried(task, prepared, resolved, this.#now()).lost
  }

  async changeTo(of: TaskOrigin, { id, resources }: ChangeOptions): Promise<readonly Lost[]> {
    return this.#change(this.#task(id), this.#preparedOf(of), resources)
  }

  whatChangesTo(of: TaskOrigin, { id, resources }: ChangeOptions): readonly Lost[] {
    const task = this.#task(id)
    requireRunning(task, 'change')
    return this.#carried(task, this.#preparedOf(of), resources, this.#now()).lost
  }

  async #toChange(id: string, rule: Rule | Template, settings: TaskSettings) {
    const task = this.#task(id)
    const prepared = this.#preparer.prepare(rule, settings, this.#options)
    requireRunning(task, 'change')
    const { prepared: before } = task
    const resolved = await resolveResources(task.id, prepared, this.#ports)
    if (this.#tasks.get(task.id) !== task)
      throw new AppError('NOT_FOUND', `task ${task.id} was removed before it could change`)
    if (task.prepared !== before)
      throw new AppError('WRONG_STATUS', `the rule of task ${task.id} was replaced while it changed; change it again`)
    return { task, prepared, resolved }
  }

  async #change(task: LiveTask, prepared: Prepared, resolved: readonly string[]): Promise<readonly Lost[]> {
    let lost: readonly Lost[] = []
    await this.#turn((now) => {
      requireRunning(task, 'change')
      const carried = this.#carried(task, prepared, resolved, now)
      lost = carried.lost
      task.change(prepared, resolved, carried, now)
      if (isRunning(task)) this.#router.add(task, task.resources)
      task.routeMembers()
    })
    return lost
  }

  #carried(task: LiveTask, prepared: Prepared, resolved: readonly string[], now: number): CarriedOver {
    return task.carriedOver(prepared, buildModel(task.id, prepared, resolved, now, this.#limits, this.#clocks), now)
  }

  async remove(id: string, options: { force?: boolean } = {}): Promise<void> {
    const task = this.#task(id)
    if (task.status === 'running') {
      if (options.force !== true)
        throw new AppError('WRONG_STATUS', 'Not possible to remove task in status running; stop it first, or force')
      await this.stop(id)
    }
    task.abandon()
    this.#runs.removed(id, task.lastRun)
    this.#router.remove(task)
    this.#tasks.delete(id)
    this.#history?.forget(id)
  }

  async restore(saved: SavedTask, { of, away }: RestoreOptions = {}): Promise<LiveTask> {
    this.#requireOpen()
    requireFormat(saved)
    if (this.#tasks.has(saved.id)) throw taskExists(saved.id, 'remove it first')
    const prepared = of ? this.#preparedOf(of) : this.#preparer.prepareSaved(saved)
    requireResources(saved, prepared.graph.resources.length)
    const task = this.#made(saved.id, saved.createTime, prepared)
    task.resolved = restoredResources(saved.resources, prepared)
    task.ranBefore = this.#runs.lastOf(saved.id, of !== undefined)
    const { resources, state } = saved
    const { startTime, clocksBegan } = state
    const makeModel = () =>
      buildModel(saved.id, prepared, resources, startTime, this.#limits, this.#clocks, clocksBegan)
    await this.#turn(() => {
      task.reopen(makeModel, state, away)
      this.#tasks.set(task.id, task)
      if (task.status !== 'running') return
      this.#router.add(task, task.resources)
      task.routeMembers()
    })
    return task
  }

  /** Inlined here, since V8 compiles this function with the row lookup, not into a caller without room for both. */
  receive(messages: Message | readonly Message[], sent?: Sent): boolean {
    if (this.#detours === 0 && sent === undefined && isOne(messages)) {
      const now = this.#now()
      let isTaken = false
      this.#detours = BUSY
      try {
        if ((this.#timers.earliest[0] as number) > now) isTaken = this.#executor.accept(messages, now)
      } finally {
        this.#detours &= ~BUSY
      }
      return (isTaken && !this.#end.hasWork) || this.#goOn(messages, isTaken)
    }
    if (this.#isClosed) throw closedError()
    const isSingle = isOne(messages)
    const list = isSingle ? [messages] : messages
    if (sent !== undefined || !isSingle) requireMessages(list, sent)
    const { channel, hops = 0 } = sent ?? {}
    if (isSingle && channel === undefined && hops === 0) {
      return this.#isBusy ? this.#receiveLater(messages) : this.#goOn(messages, false)
    }
    const byTask = messagesByTask(list, (resource) => this.listenersOf(resource, channel))
    if (byTask.size === 0) return false
    this.#enqueue((now) => {
      for (const [task, batch] of byTask) task.receive(now, batch, sent)
    })
    return true
  }

  #goOn(message: Message, isTaken: boolean): boolean {
    this.#detours |= BUSY
    try {
      return this.#finish(message, isTaken)
    } finally {
      this.#leave()
    }
  }

  #finish(message: Message, isTaken: boolean): boolean {
    if (!isTaken) {
      const source = this.#router.sourceOf(message.resource)
      if (source === undefined) return false
      this.#do(this.#taking(source, message))
    }
    // Events go first, since their subscribers may call `receive`.
    this.#events.flush()
    this.#doWaiting()
    return true
  }

  get #isBusy(): boolean {
    return (this.#detours & BUSY) !== 0
  }

  get #isClosed(): boolean {
    return (this.#detours & CLOSED) !== 0
  }

  #leave(): void {
    this.#detours &= ~BUSY
    this.#end.hasWork = false
    this.#timers.arm()
    this.#fullStates.settle()
  }

  #receiveLater(message: Message): boolean {
    const source = this.#router.sourceOf(message.resource)
    if (source !== undefined) this.#enqueue(this.#taking(source, message))
    return source !== undefined
  }

  /** Creates the closure in its own method, since otherwise every call of the caller would allocate it. */
  #taking(source: MessageSource, message: Message): (now: number) => void {
    return (now) => this.#take(source, message, now)
  }

  #take(source: MessageSource, message: Message, now: number): void {
    if ((this.#detours & DETAIL) !== 0) source.takeFully(message, now)
    else source.take(message, now)
  }

  explain(id: string, node: string): Explanation {
    return this.#task(id).explain(node)
  }

  /** Returns the longest time, in ms, that an input waited for earlier ones since the last call of this method. */
  takeMaxLag(): number {
    const { maxLag } = this.#inputs
    this.#inputs.maxLag = 0
    return maxLag
  }

  get waitingMessages(): number {
    return this.#inputs.count
  }

  get openCalls(): number {
    return this.#open.size
  }

  settled(): Promise<void> {
    return this.#open.settled()
  }

  /** Stops counting open calls in `openCalls` and `settled`; their results are still used. */
  giveUp(): void {
    for (const task of this.#tasks.values()) task.giveUp()
  }

  close(): Promise<void> {
    this.#detours |= CLOSED
    for (const task of this.#tasks.values()) task.abandon()
    this.#tasks.clear()
    this.#router.clear()
    this.#timers.close()
    this.#events.complete()
    return Promise.resolve()
  }

  #listenersChanged(id: string | undefined): void {
    const isShort = this.#executor.canTell(this.#events.singleTypes)
    this.#detours = (this.#detours & ~DETAIL) | (isShort ? 0 : DETAIL)
    this.#executor.listenersChanged()
    const task = id === undefined ? undefined : this.#tasks.get(id)
    if (task === undefined) return
    task.listen(this.#events.typesOf(task.id))
    this.#router.changed(task)
  }

  #made(id: string, createTime: number, prepared: Prepared): LiveTask {
    const task = new LiveTask(id, this.#order++, createTime, prepared, this.#host)
    const types = this.#events.typesOf(id)
    if (types !== 0) task.listen(types)
    return task
  }

  async #startAgain(task: LiveTask): Promise<Task> {
    if (task.status === 'running') throw wrongStatus('start', task)
    try {
      await this.#begin(task)
    } catch (error) {
      if (this.#tasks.get(task.id) === task && !isRunning(task)) task.fail(messageOf(error))
      this.#events.flush()
      throw error
    }
    return task
  }

  async #begin(task: LiveTask): Promise<void> {
    const { prepared } = task
    const resolved = await resolveResources(task.id, prepared, this.#ports)
    const members = prepared.graph.groups.length === 0 ? [] : await resolveMembers(prepared, this.#ports)
    await this.#turn((now) => {
      if (this.#tasks.get(task.id) !== task)
        throw new AppError('NOT_FOUND', `task ${task.id} was removed before it could start`)
      if (task.status === 'running') throw wrongStatus('start', task)
      if (task.prepared !== prepared)
        throw new AppError('WRONG_STATUS', `the rule of task ${task.id} was replaced while it started; start it again`)
      this.#launch(task, resolved, now)
      task.completeMembers(now, members)
    })
  }

  #launch(task: LiveTask, resolved: readonly string[], now: number, run?: number): void {
    task.resolved = resolved
    task.begin(this.#host.model(task, now), this.#options.seed, run)
    if (isRunning(task)) this.#router.add(task, task.resources)
  }

  #requireOpen(): void {
    if (this.#isClosed) throw closedError()
  }

  #task(id: string): LiveTask {
    this.#requireOpen()
    const task = this.#tasks.get(id)
    if (task) return task
    throw new AppError('NOT_FOUND', `Task with id ${id} not found`)
  }

  #turn(work: Work): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#enqueue((now) => {
        try {
          work(now)
          resolve()
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  #enqueue(work: Work): void {
    if (this.#isBusy) return this.#waiting.push(work)
    this.#detours |= BUSY
    try {
      this.#do(work)
      this.#doWaiting()
    } finally {
      this.#leave()
    }
  }

  #doWaiting(): void {
    if (this.#waiting.isEmpty) return
    for (let next = this.#waiting.next(); next !== undefined; next = this.#waiting.next()) this.#do(next)
  }

  #do(work: Work): void {
    try {
      const now = this.#now()
      if ((this.#timers.earliest[0] as number) <= now) {
        this.#timers.run(now)
        this.#events.flush()
      }
      work(now)
    } catch (error) {
      this.#report('a piece of work failed', error)
    }
    this.#events.flush()
  }

  /** Returns the scheduler's time, but never less than before. */
  #now(): number {
    const now = this.#scheduler.now()
    const latest = this.#latest[0] as number
    if (now <= latest) return latest
    this.#latest[0] = now
    return now
  }

  #report(what: string, error: unknown): void {
    try {
      this.#options.logger?.error(`${what}: ${messageOf(error)}`)
    } catch {
      // A logger that fails cannot be reported anywhere.
    }
  }
}

function requireRunning(task: Task, action: string): void {
  if (!isRunning(task)) throw wrongStatus(action, task)
}

/** A function, because TypeScript's narrowing would ignore that the status may change during `await`. */
function isRunning(task: Task): boolean {
  return task.status === 'running'
}
