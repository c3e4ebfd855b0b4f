/**
 * Runs the tasks of a tenant in an engine whose time is advanced by their inputs. Between two inputs, every timer acts
 * at its due time, however late the process is. The same inputs therefore have the same effects, live and in a replay.
 *
 * REPLAY-1 an input is applied at its `at`, after all timers due until then
 * REPLAY-2 the state of a task depends only on its inputs and their times, and not on wake-ups or other tasks
 * REPLAY-3 the result of an asynchronous plug is applied at its position in the log
 */
import type { SchedulerLike } from 'rxjs'
import { CoreEngine, type EngineOptions, type PlugRegistry, type RareEvent, type Sent, VirtualClock } from '#core'
import {
  type DowntimeInterval,
  type Execution,
  ignoring,
  isRendered,
  limitAfter,
  limitWithout,
  type LiveTask,
  isAffectedBy,
  isDowntimeSensitive,
  type Outcome,
  type Preparer,
  type Reply,
  type SavedState,
  type TaskOrigin,
  withoutStamp,
} from '#core/spi'
import { AppError, decodeNumbers, messageOf, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { RunnableTask } from '../runner.ts'
import type { Delivery } from '../inspection/inspection-schema.ts'
import { DeliveryLedger } from './delivery-ledger.ts'
import { messagesOf, type Input } from './input.ts'
import { laterKind } from './later-calls.ts'
import type { EngineWatch } from './shadows.ts'
import type { StateRecord } from './records.ts'

export interface EngineSettings extends Partial<
  Pick<
    EngineOptions,
    | 'ports'
    | 'logger'
    | 'globalSettings'
    | 'generate'
    | 'history'
    | 'timed'
    | 'maxWaiting'
    | 'streamValidity'
    | 'identityIgnores'
    | 'duplicates'
    | 'dedupWindow'
    | 'maxRemembered'
    | 'seed'
    | 'why'
  >
> {
  readonly plugs: PlugRegistry
  /** compiles a rule once for several engines */
  readonly preparer?: Preparer | undefined
  /** compiles the rules of shadows, with plugs that simulate effects; absent: shadows do not run */
  readonly shadowPreparer?: Preparer | undefined
  /** called with each engine that runs live tasks, or replays their inputs */
  readonly observed?: ((engine: CoreEngine) => EngineWatch) | undefined
  /** true: states contain the messages that wait for a task, not their positions in a log; default false */
  readonly wholeStates?: boolean
}

/** Settings for the processing of messages, as plain data. */
export type EngineLimits = Omit<
  EngineSettings,
  | 'plugs'
  | 'ports'
  | 'preparer'
  | 'shadowPreparer'
  | 'observed'
  | 'wholeStates'
  | 'logger'
  | 'history'
  | 'timed'
  | 'generate'
>

export interface EngineHooks {
  touched(task: string): void
  mayCall?(task: string, epoch: number, execution: Execution): boolean
  lifecycle?(event: RareEvent): void
  /** `kind`: from `laterKind` */
  opened(kind: string, task: string, execution: Execution): void
  answered(task: string, epoch: number, execution: number, call: number, reply: Reply): void
  answeredAhead(task: string, epoch: number, input: number, node: string, outcome: Reply): void
  ended(run: EndOfRun): void
  /** the call of a delivery failed and is going to be repeated */
  retried?(task: string, delivery: Delivery): void
}

export interface EndOfRun {
  readonly task: RunnableTask
  readonly status: 'stopped' | 'failed'
  readonly time: number
  readonly error?: string
}

export interface WaitingTask {
  readonly task: RunnableTask
  readonly record: TaskStateRecord
  /** epoch ms at which the previous runner was last known to be alive */
  readonly leftAt: number
}

export type TaskStateRecord = Pick<StateRecord, 'resources' | 'delivered' | 'underWay'> & {
  readonly state: SavedState
}

type MoveLimit = (limit: number, timeoutMs: number) => number

/** A fixed seed suffices, because runs of a rule differ by their number. */
const SEED = 1

export class DeterministicEngine {
  readonly engine: CoreEngine
  readonly ledger: DeliveryLedger
  readonly waiting = new Map<string, WaitingTask>()
  readonly beginning = new Map<string, RunnableTask>()
  readonly changing = new Map<string, RunnableTask>()
  readonly #clock: VirtualClock
  readonly #hooks: EngineHooks
  readonly #wholeStates: boolean
  readonly #staged = new Map<string, RunnableTask>()
  /** ids of tasks that were asked to end, or whose end was reported */
  readonly #over = new Set<string>()
  readonly #minding = new Set<string>()
  /** the task that is being restored; restoring does not count as a change */
  #restoring: string | undefined
  /** while time is left out: tasks that began a call at this moment */
  #begun: Set<string> | undefined
  readonly #shadowPreparer: Preparer | undefined
  readonly #watch: EngineWatch | undefined

  constructor(parts: EngineSettings, hooks: EngineHooks, start: number) {
    this.#clock = new VirtualClock(start)
    this.#hooks = hooks
    this.ledger = new DeliveryLedger((task, delivery) => hooks.retried?.(task, delivery))
    const clock: SchedulerLike = this.#clock
    const { mayCall, lifecycle } = hooks
    const { plugs, preparer, shadowPreparer, observed, wholeStates = false, ...settings } = parts
    this.#wholeStates = wholeStates
    this.#shadowPreparer = shadowPreparer
    const options: EngineOptions = {
      seed: SEED,
      ...settings,
      plugs: [],
      scheduler: clock,
      ids: () => '',
      ...(lifecycle && { onRare: lifecycle }),
      journal: {
        touched: ({ id }) => this.#touched(id),
        ...(mayCall && { mayCall: ({ id }, execution) => mayCall(id, this.epochOf(id), execution) }),
        opened: ({ id }, execution) => this.#opened(id, execution),
        answered: ({ id }, execution, call, reply) => hooks.answered(id, this.epochOf(id), execution.id, call, reply),
        answeredAhead: ({ id }, input, node, outcome) =>
          hooks.answeredAhead(id, this.epochOf(id), input, node, outcome),
        waits: ({ id }, execution) => this.ledger.waits(id, this.#effect(id, execution), execution),
        gave: ({ id }, execution, outcome) => this.#gave(id, execution, outcome),
      },
    }
    this.engine = new CoreEngine(options, plugs, preparer)
    this.#watch = observed?.(this.engine)
  }

  get now(): number {
    return this.#clock.now()
  }

  get nextAt(): number | undefined {
    return this.#clock.nextAt()
  }

  get isDowntimeSensitive(): boolean {
    return this.#minding.size > 0
  }

  epochOf(id: string): number {
    return this.#staged.get(id)?.epoch ?? 0
  }

  task(id: string): RunnableTask | undefined {
    return this.#staged.get(id)
  }

  /** Returns whether the run that made an effect continues: only then does a replay repeat the effect. */
  isOfRun(id: string, effect: string): boolean {
    return this.engine.tasks.get(id)?.status === 'running' && effect.startsWith(`${id}/${this.epochOf(id)}/`)
  }

  require(id: string): LiveTask {
    const task = this.engine.tasks.get(id)
    if (task) return task
    throw new AppError('NOT_FOUND', `Task with id ${id} not found`)
  }

  advanceTo(time: number): void {
    this.#clock.advanceTo(time)
    this.#watch?.settled(this.now)
  }

  apply(input: Input, position: number): unknown {
    if (this.#watch === undefined) return this.#apply(input, position)
    const done = this.#apply(input, position)
    if (!(done instanceof Promise)) {
      this.#watch.settled(this.now)
      return done
    }
    return done.finally(() => this.#watch?.settled(this.now))
  }

  #apply(input: Input, position: number): unknown {
    if (input.k === 'jump') return this.#jump(input)
    if (input.k === 'open') return this.#leave(input.until)
    if (input.k === 'still') return this.#leaveOut(input)
    this.advanceTo(input.at)
    if (input.k === 'later') return
    switch (input.k) {
      case 'data':
        return this.#receive(input, position)
      case 'push':
        return this.require(input.t).push(input.n, input.v)
      case 'command':
        return input.o === 'start' ? this.require(input.t).run(input.n) : this.require(input.t).resume(input.n)
      case 'resync':
        return this.require(input.t).resync()
      case 'members':
        return this.#changeMembers(input)
      case 'trim':
        return this.engine.remembered.forget(input.before, input.at)
      case 'answer':
        return this.#answer(input)
      case 'ahead':
        return this.#answerAhead(input)
      case 'begin':
        return this.#begin(input)
      case 'change':
        return this.#change(input)
      case 'end':
        return this.#end(input)
      case 'forget':
        return this.#forget(input.t)
      case 'resume':
        return this.#resume(input)
    }
  }

  #receive(input: Extract<Input, { k: 'data' }>, position: number): boolean {
    const { kept } = this.engine
    const messages = messagesOf(input.m)
    for (const index of input.u ?? []) {
      const message = messages[index]
      if (message !== undefined) withoutStamp(message)
    }
    if (input.g !== undefined) for (const message of messages) ignoring(message, input.g)
    if (!this.#wholeStates) {
      kept.position = position
      kept.messages = input.m
    }
    try {
      return this.engine.receive(input.m, sentOf(input))
    } finally {
      kept.messages = undefined
    }
  }

  /** Restores a stored task as it was or, with `away`, after a downtime. Throws `SAVED_STATE`, `VALIDATION`. */
  async restore({ task, record }: Pick<WaitingTask, 'task' | 'record'>, away?: DowntimeInterval): Promise<void> {
    this.#stage(task)
    this.ledger.begin(task.id, record.delivered, record.underWay)
    const { id, createTime } = task
    const { resources, state } = record
    if (away === undefined) this.#restoring = task.id
    try {
      const options = { of: this.#origin(task), ...(away && { away }) }
      await this.engine.restore({ format: 1, id, createTime, rule: { sensors: [] }, resources, state }, options)
    } catch (error) {
      this.#unstage(id)
      this.ledger.leave(id)
      throw error
    } finally {
      this.#restoring = undefined
    }
    this.#noteMind(id)
    this.#noteEnd(id)
  }

  save(id: string): WaitingTask['record'] | undefined {
    const task = this.engine.tasks.get(id)
    if (task === undefined) return undefined
    const { resources, state } = task.save()
    const underWay = this.ledger.open(id)
    return { resources, state, delivered: this.ledger.count(id), ...(underWay.length > 0 && { underWay }) }
  }

  #jump({ at, since = at }: Extract<Input, { k: 'jump' }>): void {
    const from = this.now
    this.#moveLimits(this.#staged.keys(), (limit, timeoutMs) =>
      Math.max(limitAfter(limit, from, at), limitWithout(limit, timeoutMs, since, at)),
    )
    this.#clock.jumpTo(at)
  }

  /** Leaves out time in which the store was unresponsive. Calls that begin during it get their full time afterwards. */
  #leaveOut({ since, at }: Extract<Input, { k: 'still' }>): void {
    const without: MoveLimit = (limit, timeoutMs) => limitWithout(limit, timeoutMs, since, at)
    if (since < at) this.#moveLimits(this.#staged.keys(), without)
    for (let next = this.nextAt; next !== undefined && next < at; next = this.nextAt) {
      const begun = (this.#begun = new Set<string>())
      this.#clock.advanceTo(next)
      this.#begun = undefined
      const began = this.now
      this.#moveLimits(begun, (limit, timeoutMs) => (limit - timeoutMs === began ? without(limit, timeoutMs) : limit))
    }
    this.#clock.advanceTo(at)
  }

  /** Moves deadlines of calls. Each affected task counts as changed: its stored state has the old deadlines. */
  #moveLimits(tasks: Iterable<string>, move: MoveLimit): void {
    for (const id of tasks) {
      if (this.engine.tasks.get(id)?.moveLimits(move) === true) this.#hooks.touched(id)
    }
  }

  async #leave(until: number): Promise<void> {
    this.#clock.advanceTo(until)
    for (const [id, task] of this.#staged) {
      const record = this.save(id)
      this.ledger.leave(id)
      await this.#drop(id)
      if (record !== undefined) this.waiting.set(id, { task, record, leftAt: until })
    }
  }

  async #resume({ ts, at }: Extract<Input, { k: 'resume' }>): Promise<void> {
    const yielder = new Yielder(machineTimers)
    for (const id of ts) {
      if (yielder.isOver) await yielder.next()
      const waiting = this.waiting.get(id)
      if (waiting === undefined) continue
      this.waiting.delete(id)
      try {
        const away = { from: waiting.leftAt, until: at }
        await this.restore({ task: waiting.task, record: withLimitsAfter(waiting, at) }, away)
        const isMoved = isAffectedBy(this.require(id).prepared, away)
        if (isMoved || waiting.record.state.executing !== undefined) this.#hooks.touched(id)
      } catch (error) {
        this.#failed(waiting.task, error)
      }
    }
    this.#clock.advanceTo(at)
  }

  #origin({ source, settings, beside }: RunnableTask): TaskOrigin {
    return { source, settings, ...(beside !== undefined && { preparer: this.#shadowPreparer }) }
  }

  async #begin({ t, e, r, d, f }: Extract<Input, { k: 'begin' }>): Promise<void> {
    const task = this.beginning.get(t)
    if (task?.epoch !== e) return
    const copied = f === undefined ? undefined : this.#copyOf(f)
    // open deliveries may have ended after the start was requested
    const delivered = Math.max(d, await this.#drop(t))
    this.#stage(task)
    this.ledger.begin(t, delivered)
    const { createTime } = task
    try {
      if (copied === undefined) await this.engine.begin(this.#origin(task), { id: t, run: e, createTime, resources: r })
      else {
        const { resources, state, of } = copied
        const options = { of: this.#origin({ ...task, ...of }) }
        await this.engine.restore({ format: 1, id: t, createTime, rule: { sensors: [] }, resources, state }, options)
        await this.engine.changeTo(this.#origin(task), { id: t, resources: r })
      }
    } catch (error) {
      this.#unstage(t)
      return this.#failed(task, error)
    }
    this.#noteMind(t)
    this.#touched(t)
  }

  /** Returns the present rule and state of a running task. */
  #copyOf(id: string) {
    const task = this.#staged.get(id)
    const live = this.engine.tasks.get(id)
    if (task === undefined || live?.status !== 'running') return undefined
    const { resources, state } = live.save()
    const { source, settings } = task
    // plugs modify their memory in place
    return { resources, state: structuredClone(state), of: { source, settings } }
  }

  /** Lets members join and leave, unless the run of the task has ended meanwhile. */
  #changeMembers({ t, e, g, c }: Extract<Input, { k: 'members' }>): void {
    if (this.#staged.get(t)?.epoch === e) this.engine.tasks.get(t)?.changeMembersBy(g, c)
  }

  /** Changes a running task. If its run has ended meanwhile, the task stays as it is. */
  async #change({ t, e, r }: Extract<Input, { k: 'change' }>): Promise<void> {
    const task = this.changing.get(t)
    if (task?.epoch !== e || this.#staged.get(t)?.epoch !== e || this.engine.tasks.get(t)?.status !== 'running') return
    await this.engine.changeTo(this.#origin(task), { id: t, resources: r })
    this.#staged.set(t, task)
    this.#noteMind(t)
    this.#touched(t)
  }

  async #end({ t, e }: Extract<Input, { k: 'end' }>): Promise<void> {
    if (this.#staged.get(t)?.epoch !== e) return
    this.#over.add(t)
    if (this.engine.tasks.get(t)?.status === 'running') await this.engine.stop(t)
  }

  /** Removes a task, and returns how many of its deliveries have ended, if known here. */
  async #drop(id: string): Promise<number> {
    if (this.#staged.has(id)) this.#over.add(id)
    const waited = this.waiting.get(id)?.record.delivered ?? 0
    this.waiting.delete(id)
    if (this.engine.tasks.has(id)) await this.engine.remove(id, { force: true })
    this.#unstage(id)
    const delivered = Math.max(waited, this.ledger.count(id))
    this.ledger.leave(id)
    return delivered
  }

  async #forget(id: string): Promise<void> {
    await this.#drop(id)
    this.ledger.forget(id)
  }

  #answer({ t, e, x, c, o }: Extract<Input, { k: 'answer' }>): void {
    const task = this.engine.tasks.get(t)
    if (task === undefined || this.epochOf(t) !== e) return
    const reply = decodeNumbers(o) as Reply
    const execution = task.execution(x)
    if (execution === undefined || execution.calls !== c) return
    if (execution.phase !== 'called' && execution.phase !== 'rendering') return
    if (!isRendered(reply)) this.ledger.answered(t, execution, reply)
    task.settle(x, c, reply)
  }

  #answerAhead({ t, e, i, n, o }: Extract<Input, { k: 'ahead' }>): void {
    const task = this.engine.tasks.get(t)
    if (task === undefined || this.epochOf(t) !== e) return
    task.settleAhead(i, n, decodeNumbers(o) as Outcome)
  }

  #opened(id: string, execution: Execution): void {
    this.#begun?.add(id)
    if (execution.phase === 'called')
      this.ledger.called(id, this.#effect(id, execution), execution, this.now, this.#restoring === id)
    this.#hooks.opened(laterKind(execution), id, execution)
  }

  #gave(id: string, execution: Execution, outcome: Outcome): void {
    if (!this.ledger.has(id, execution)) return
    if (execution.phase === 'called')
      this.ledger.called(id, this.#effect(id, execution), execution, this.now, this.#restoring === id)
    this.ledger.answered(id, execution, outcome)
  }

  #effect(id: string, { input, indexInInput }: Execution): string {
    return `${id}/${this.epochOf(id)}/${input}/${indexInInput}`
  }

  #touched(id: string): void {
    const task = this.engine.tasks.get(id)
    if (this.#restoring === id || task === undefined) return
    this.ledger.touched(task)
    this.#hooks.touched(id)
    if (task.status !== 'running') this.#noteEnd(id)
  }

  #stage(task: RunnableTask): void {
    this.#staged.set(task.id, task)
    this.#over.delete(task.id)
  }

  #unstage(id: string): void {
    this.#minding.delete(id)
    this.#staged.delete(id)
    this.#over.delete(id)
  }

  #noteMind(id: string): void {
    if (isDowntimeSensitive(this.require(id).prepared)) this.#minding.add(id)
    else this.#minding.delete(id)
  }

  #noteEnd(id: string): void {
    const staged = this.#staged.get(id)
    const task = this.engine.tasks.get(id)
    if (staged === undefined || task === undefined || task.status === 'running') return
    this.#minding.delete(id)
    if (this.#over.has(id)) return
    this.#over.add(id)
    this.#hooks.ended({ task: staged, status: 'stopped', time: task.info().finishedTime ?? this.now })
  }

  #failed(task: RunnableTask, error: unknown): void {
    this.#hooks.ended({ task, status: 'failed', time: this.now, error: messageOf(error) })
  }
}

function sentOf({ c, h, r }: Extract<Input, { k: 'data' }>): Sent | undefined {
  if (c === undefined && h === undefined) return undefined
  const causation = h === undefined ? undefined : { hops: h, ...(r !== undefined && { root: r }) }
  return { ...(c !== undefined && { channel: c }), ...causation }
}

function withLimitsAfter({ record, leftAt }: WaitingTask, at: number): TaskStateRecord {
  const { executing } = record.state
  if (executing === undefined || at <= leftAt) return record
  const later = executing.map((one) => {
    if (one.phase !== 'called' || one.wakeAt === undefined) return one
    return { ...one, wakeAt: limitAfter(one.wakeAt, leftAt, at) }
  })
  return { ...record, state: { ...record.state, executing: later } }
}
