/**
 * Runs the tasks of a tenant: inputs come through the log, states go to the store, real time drives the engine.
 *
 * LIVETASKS-1 the engine's time never passes the time of an input in flight, which would then be late
 * LIVETASKS-2 until every stored task is resumed, the log keeps everything that tasks may need
 */
import type { SchedulerLike, Subscription } from 'rxjs'
import { type Preparer, type Reply, requireMessages, resolveResources } from '#core/spi'
import type { Lost, Message, RareEvent } from '#core'
import { AppError, isAway, messageOf } from '#kernel'
import { ARRIVAL_TIME, type Followed, messageBody, type NewEntry, type TenantLog } from '#log'
import type { Store, Write } from '#storage'
import type { InputCheckpoint } from '../inputs/contract.ts'
import type { Intake, IntakePost, PlannedChange, RunnableTask, TaskChange } from '../runner.ts'
import { Checkpoints, type CheckpointSettings } from './checkpoints.ts'
import { EndedDeliveries } from './ended-deliveries.ts'
import { type GroupMembers, groupMembersOf } from './group-members.ts'
import { dataOf, entryOf, messagesOf, plain, type Input, type Untimed } from './input.ts'
import { Recovery, type Recovered } from './recovery.ts'
import { joinedState, withoutParts } from './stored-states.ts'
import { STATES, type StateRecord } from './records.ts'
import type { Shadows } from './shadows.ts'
import { SignsOfLife } from './signs-of-life.ts'
import { StallDetector } from './stall-detector.ts'
import { DeterministicEngine, type EndOfRun, type EngineHooks, type EngineSettings } from './deterministic-engine.ts'

export interface LiveTasksDependencies {
  readonly store: Store
  readonly log: TenantLog
  readonly engine: EngineSettings
  readonly preparer: Preparer
  readonly scheduler: SchedulerLike
  readonly checkpoints: CheckpointSettings
  readonly restMs: number
  readonly shadows: Shadows
  /** Inputs are kept, so log entries of messages that no task receives contain their arrival too. */
  readonly keepsInputs: boolean
  /** Throws `RATE_LIMITED` when too many messages wait in all tasks together. */
  requireRoom(): void
  ended(run: EndOfRun): void
  lifecycle(event: RareEvent): void
}

/** If timers are later than this, the process was asleep: each timer acts once, late. */
const SLEPT_MS = 60_000
/** Lateness of timers that does not endanger open calls yet. */
const OVERDUE_MS = 1_000
/** ms before logging an outcome is retried during an outage */
const AWAY_MS = 250
/** ms after the last call of `resume` until all tasks count as resumed */
const RESUMED_AFTER_MS = 60_000

type Answer = Untimed<Extract<Input, { k: 'answer' | 'ahead' }>>

export class LiveTasks {
  readonly deterministic: DeterministicEngine
  readonly deliveries: EndedDeliveries
  inputs = 0
  readonly #dependencies: LiveTasksDependencies
  readonly #log: TenantLog
  readonly #checkpoints: Checkpoints
  readonly laterKinds: Set<string>
  readonly groups: GroupMembers | undefined
  readonly #stall: StallDetector
  readonly #signs: SignsOfLife
  readonly #ended: EndOfRun[] = []
  #recovery: Recovery | undefined
  #resumedAll: Subscription | undefined
  #resuming: Promise<unknown> = Promise.resolve()
  /** calls of `resume` in progress; a failed call is never subtracted */
  #portions = 0
  #wake: Subscription | undefined
  #wakeAt = Number.POSITIVE_INFINITY
  /** epoch ms of the last messages that no task received */
  #arrived = Number.NEGATIVE_INFINITY
  #wokenAt = Number.NEGATIVE_INFINITY
  #isCatchingUp = false
  #isClosing = false
  #isClosed = false

  private constructor(dependencies: LiveTasksDependencies, recovery: Recovery) {
    const { store, log, scheduler, checkpoints, engine } = dependencies
    this.#dependencies = dependencies
    this.#recovery = recovery
    this.laterKinds = new Set(recovery.mark?.later)
    this.#stall = new StallDetector(scheduler.now())
    const hooks: EngineHooks = {
      touched: (task) => this.#checkpoints.touched(task, this.#isCatchingUp),
      lifecycle: (event) => dependencies.lifecycle(event),
      opened: (plug) => this.#isLater(plug),
      answered: (t, e, x, c, reply) => this.#answered(reply, { k: 'answer', t, e, x, c, o: plain(reply) }),
      answeredAhead: (t, e, i, n, reply) => this.#answered(reply, { k: 'ahead', t, e, i, n, o: plain(reply) }),
      ended: (run) => void this.#ended.push(run),
      retried: (task, delivery) => this.#checkpoints.retried(task, delivery),
    }
    this.deterministic = new DeterministicEngine(engine, hooks, recovery.until ?? scheduler.now())
    this.#log = log
    const position = () => log.position
    const floor = () => (this.#recovery === undefined ? undefined : (this.#recovery.mark?.position ?? 0))
    this.#checkpoints = new Checkpoints(
      {
        store,
        scheduler,
        deterministic: this.deterministic,
        settings: checkpoints,
        position,
        pruner: log.pruner,
        floor,
        later: this.laterKinds,
        shadows: dependencies.shadows,
        logger: engine.logger,
        onRound: (isStoreAway) => this.#onRound(isStoreAway),
      },
      recovery.mark,
    )
    this.groups = groupMembersOf(engine, this.deterministic, (input) => this.send(input))
    const isWanted = () => this.deterministic.isDowntimeSensitive
    this.#signs = new SignsOfLife(scheduler, isWanted, () => this.#storeSign())
    this.deliveries = new EndedDeliveries(store, this.deterministic, this.#checkpoints)
    const engineOfLog = {
      apply: (input: Input, at: number) => this.#apply(input, at),
      settled: () => {
        this.#checkpoints.settled()
        this.#spareCalls()
        this.#trim()
        this.#afterwards()
      },
    }
    log.attach(engineOfLog, recovery.position)
  }

  static async open(dependencies: LiveTasksDependencies): Promise<LiveTasks> {
    const runner = new LiveTasks(dependencies, await Recovery.read(dependencies.engine, dependencies.store))
    const until = runner.#recovery?.until
    if (until === undefined) runner.#allResumed()
    else await runner.#take({ k: 'open', until })
    return runner
  }

  checkpoint(id: string): InputCheckpoint | undefined {
    const task = this.deterministic.task(id)
    const record = this.deterministic.save(id)
    if (task === undefined || record?.state.status !== 'running') return undefined
    return { position: this.#log.position, at: this.deterministic.now, task, record }
  }

  get position(): number {
    return this.#log.position
  }

  get queued(): number {
    return this.#log.size
  }

  async plan(change: TaskChange): Promise<PlannedChange> {
    this.#allResumed()
    if (change.kind === 'begin') {
      const { task } = change
      const resources = await this.#resources(task)
      const delivered = await this.deliveries.count(task.id, task.epoch)
      return planned((writes) => this.#begin(task, resources, delivered, writes), resources)
    }
    if (change.kind === 'change') {
      const { task, before } = change
      const resources = await this.#resources(task)
      return planned((writes) => this.#change(task, resources, before, writes), resources)
    }
    const { id } = change
    if (change.kind === 'end') {
      const { epoch } = change
      return planned((writes) => this.#take({ k: 'end', t: id, e: epoch }, [...writes, ...this.deliveries.writes(id)]))
    }
    const writes = await this.#forgetting(id)
    return { writes, resourceIds: [], apply: () => this.#forget(id) }
  }

  async losses(task: RunnableTask): Promise<readonly Lost[] | undefined> {
    this.#allResumed()
    const resources = await this.#resources(task)
    const { deterministic } = this
    if (
      deterministic.task(task.id)?.epoch !== task.epoch ||
      deterministic.engine.tasks.get(task.id)?.status !== 'running'
    )
      return undefined
    return deterministic.engine.whatChangesTo(task, { id: task.id, resources })
  }

  resume(tasks: readonly RunnableTask[]): Promise<void> {
    this.#portions++
    this.#resumedAll?.unsubscribe()
    // starts reading while earlier portions are resumed
    const states = this.#states(tasks.map(({ id }) => id))
    states.catch(() => undefined)
    const taken = this.#resuming.then(async () => this.#takeUp(tasks, await states))
    this.#resuming = taken.catch(() => undefined)
    return taken.then(({ resumed }) => resumed)
  }

  /** Resolves when the tasks are being resumed. The object keeps an `await` from awaiting the inner promise. */
  async #takeUp(
    tasks: readonly RunnableTask[],
    states: ReadonlyMap<string, StateRecord>,
  ): Promise<{ readonly resumed: Promise<void> }> {
    this.#recovery ??= await Recovery.read(this.#dependencies.engine, this.#dependencies.store)
    const recovered = await this.#recovery.recover(tasks, states)
    const going: RunnableTask[] = []
    const beginning: Promise<void>[] = []
    for (const task of tasks) {
      const found = recovered.get(task.id)
      if (found === undefined) {
        // a shadow begins again once the task beside it is there
        if (task.beside === undefined) beginning.push(this.#beginLate(task))
      } else if ('error' in found) this.#fail(task, found.error)
      else {
        this.deterministic.waiting.set(task.id, { task, record: found.record, leftAt: found.leftAt })
        going.push(task)
      }
    }
    const taken = Promise.all([...beginning, this.#take({ k: 'resume', ts: going.map(({ id }) => id) })])
    return { resumed: taken.then(() => this.#resumed(going, recovered)) }
  }

  #resumed(tasks: readonly RunnableTask[], recovered: ReadonlyMap<string, Recovered>): void {
    for (const { id } of tasks) {
      const found = recovered.get(id)
      if (found === undefined || 'error' in found || !found.isPlayed) continue
      this.deterministic.ledger.addFresh(id, found.deliveries)
      this.#checkpoints.touched(id, false)
    }
    if (--this.#portions > 0) return
    this.#resumedAll = this.#dependencies.scheduler.schedule(() => this.#allResumed(), RESUMED_AFTER_MS)
  }

  async send(input: Untimed<Extract<Input, { k: 'push' | 'command' | 'resync' | 'members' }>>): Promise<void> {
    this.#allResumed()
    if (!this.#log.has('begin')) this.deterministic.require(input.t)
    await this.#take(input)
    if (input.k === 'push') this.inputs++
  }

  get waiting(): number {
    return this.deterministic.engine.waitingMessages
  }

  get unstored(): ReadonlyMap<string, string> {
    return this.#checkpoints.unstored
  }

  catchUp(): void {
    const now = Math.min(this.#dependencies.scheduler.now(), this.#log.horizon)
    if (this.#isClosed || now < this.deterministic.now) return
    if (this.#hasSlept(now)) {
      if (!this.#log.has('jump')) this.#tryJump(now)
    } else if (!this.#waitsForStore(now)) {
      this.#isCatchingUp = true
      try {
        this.deterministic.advanceTo(now)
      } finally {
        this.#isCatchingUp = false
      }
    }
    this.#afterwards()
  }

  /** From now on a call may have failed only because of the stop: the next runner repeats it. */
  closing(): void {
    this.#isClosing = true
  }

  async close(): Promise<void> {
    this.closing()
    await this.#log.idle()
    this.#isClosed = true
    this.#resumedAll?.unsubscribe()
    this.#signs.stop()
    this.#wake?.unsubscribe()
    await this.#checkpoints.close()
    await this.deterministic.engine.close()
  }

  #hasSlept(now: number): boolean {
    return now - (this.deterministic.nextAt ?? now) > SLEPT_MS
  }

  #takes({ messages, channel }: IntakePost): boolean {
    if (this.#log.has('begin') || this.#log.has('change')) return true
    const { engine } = this.deterministic
    const hasListener = ({ resource }: Message) =>
      engine.listenersOf(resource, channel)[Symbol.iterator]().next().done !== true
    return messagesOf(messages).some(hasListener)
  }

  async receive(posts: readonly IntakePost[], writes: readonly Write[] = [], followed?: Followed): Promise<Intake> {
    for (const post of posts) requireMessages(messagesOf(post.messages), post)
    this.#dependencies.requireRoom()
    if (posts.length > 0) this.#allResumed()
    const accepted = new Set(posts.filter((post) => this.#takes(post)))
    if (this.#isClosed && accepted.size + writes.length > 0) throw closed()
    const { at, before } = accepted.size > 0 ? this.#arriving() : { at: 0, before: [] }
    const entries: NewEntry[] = before.map((input) => entryOf(input))
    for (const post of posts) {
      if (accepted.has(post)) entries.push(entryOf({ ...dataOf(post.messages, post), at }, post))
      else if (post.kept !== undefined) entries.push({ body: messageBody(post, this.#aboutUntaken(post)) })
    }
    if (entries.length === 0 && followed === undefined) {
      // the store keeps these writes in order with earlier inputs
      const { results } = writes.length === 0 ? { results: [] } : await this.#dependencies.store.commit(writes)
      return { taken: false, results }
    }
    const { answers, results } = await this.#add(entries, writes, followed)
    let taken = false
    for (const [i, { input }] of entries.entries()) {
      if (answers[i] !== true || input?.k !== 'data') continue
      taken = true
      this.inputs += messagesOf((input as Extract<Input, { k: 'data' }>).m).length
    }
    return { taken, results }
  }

  #aboutUntaken(post: IntakePost): object | undefined {
    if (!this.#dependencies.keepsInputs) return undefined
    const { k: _k, m: _m, ...about } = dataOf(post.messages, post)
    this.#arrived = this.#arrival
    return { ...about, [ARRIVAL_TIME]: this.#arrived }
  }

  get #arrival(): number {
    return Math.max(this.#dependencies.scheduler.now(), this.deterministic.now, this.#log.lastAt, this.#arrived)
  }

  async #take(input: Untimed, writes: readonly Write[] = []): Promise<void> {
    if (this.#isClosed) throw closed()
    const { at, before } = this.#arriving()
    const entries = [...before, { ...input, at }].map((one) => entryOf(one))
    await this.#add(entries, writes)
  }

  /** A replay sleeps and leaves out time at the same position, so these entries are in the same unit. */
  #arriving(): { readonly at: number; readonly before: readonly Input[] } {
    const at = this.#arrival
    const { horizon } = this.#log
    // inputs in flight may begin calls that have no timers yet
    if (at - horizon > SLEPT_MS || this.#hasSlept(at)) return { at, before: [this.#jumpTo(at)] }
    const since = this.#stall.sinceBefore(at, horizon)
    return { at, before: since === undefined ? [] : [{ k: 'still', at, since }] }
  }

  async #add(
    entries: readonly NewEntry[],
    writes: readonly Write[],
    followed?: Followed,
  ): ReturnType<TenantLog['add']> {
    try {
      return await this.#log.add({ entries, writes, followed })
    } catch (error) {
      if (isAway(error)) this.#stall.away()
      throw error
    }
  }

  #jumpTo(at: number): Input {
    const since = this.#stall.sinceBefore(at, this.#log.horizon)
    return { k: 'jump', at, ...(since !== undefined && { since }) }
  }

  #tryJump(now: number): void {
    const { scheduler } = this.#dependencies
    if (now < this.#stall.queryAgainAt) return
    void this.#log.add({ entries: [entryOf(this.#jumpTo(now))] }).catch(() => this.#stall.refused(scheduler.now()))
  }

  #onRound(isStoreAway: boolean): void {
    if (isStoreAway) return this.#stall.away()
    const now = this.#dependencies.scheduler.now()
    this.#stall.responded(Math.min(now, this.#log.horizon), now)
    this.#spareCalls()
  }

  /** Leaves out the time that the store needed to make the current inputs durable. */
  #spareCalls(): void {
    const { since } = this.#stall
    if (since === undefined || this.#log.size > 0 || this.#isClosed) return
    const now = Math.max(this.#dependencies.scheduler.now(), this.deterministic.now)
    this.#stall.counted(now)
    const { engine, nextAt = Number.POSITIVE_INFINITY } = this.deterministic
    if (engine.openCalls === 0 && nextAt > now) return
    // after so long a time each timer acts once; otherwise calls would be retried throughout that time
    const isLong = now - Math.max(since, this.deterministic.now) > SLEPT_MS || this.#hasSlept(now)
    const leftOut: Input = { k: isLong ? 'jump' : 'still', at: now, since }
    this.#stall.leavesOut(since)
    const { scheduler } = this.#dependencies
    void this.#log.add({ entries: [entryOf(leftOut)] }).catch(() => this.#stall.lost(since, scheduler.now()))
  }

  /** Returns whether due timers, which may begin or end calls, must wait for a sign of life of the store (STILL-2). */
  #waitsForStore(now: number): boolean {
    const { engine, nextAt = Number.POSITIVE_INFINITY, now: reached } = this.deterministic
    if (nextAt > now) return false
    if (this.#stall.since !== undefined) {
      // the period to leave out is not stored yet
      if (now >= this.#stall.queryAgainAt) this.#spareCalls()
      return true
    }
    if (this.#log.has('still') || this.#log.has('jump')) return true
    // timers that were due so long ago may begin calls whose deadlines have already passed
    if (engine.openCalls === 0 && now - nextAt <= OVERDUE_MS) return false
    if (!this.#stall.isQuiet(now)) return false
    // inputs in flight show whether the store works, as a query would
    if (this.#log.size === 0 && now >= this.#stall.queryAgainAt) this.#askStore(Math.max(reached, nextAt - 1), now)
    return true
  }

  #askStore(at: number, now: number): void {
    this.#stall.queried(now)
    const { scheduler } = this.#dependencies
    void this.#log
      .add({ entries: [entryOf({ k: 'still', at, since: at })] })
      .catch(() => this.#stall.refused(scheduler.now()))
  }

  async #storeSign(): Promise<void> {
    this.catchUp()
    await this.#checkpoints.alive()
  }

  #apply(input: Input, position: number): unknown {
    this.#checkpoints.applied()
    this.#signs.seen(input.at)
    if (input.k === 'jump') this.#stall.counted(input.at)
    if (input.k === 'still' && input.since < input.at) this.#stall.counted(input.at, input.since)
    this.#stall.responded(input.at, this.#dependencies.scheduler.now())
    if (input.k === 'data') for (const { resource } of messagesOf(input.m)) this.#checkpoints.messageOf(resource)
    const done = this.deterministic.apply(input, position)
    this.groups?.refreshAfter(input, done)
    return done
  }

  /** Logs when identities of messages are forgotten for lack of room, since engines may differ in when they do so. */
  #trim(): void {
    const before = this.#isClosed || this.#log.has('trim') ? undefined : this.deterministic.engine.remembered.tooOld
    if (before !== undefined) void this.#take({ k: 'trim', before }).catch(() => undefined)
  }

  async #begin(
    task: RunnableTask,
    resources: readonly string[],
    delivered: number,
    writes: readonly Write[] = [],
  ): Promise<void> {
    this.deterministic.beginning.set(task.id, task)
    const { id, epoch } = task
    // open deliveries of the previous run end with that run
    const d = this.deterministic.task(id)
      ? this.deterministic.ledger.count(id) + this.deterministic.ledger.open(id).length
      : delivered
    try {
      const f = task.beside
      const input: Untimed = { k: 'begin', t: id, e: epoch, r: resources, d, ...(f !== undefined && { f }) }
      await this.#take(input, [...writes, ...this.deliveries.writes(id)])
    } finally {
      if (this.deterministic.beginning.get(task.id) === task) this.deterministic.beginning.delete(task.id)
    }
  }

  async #change(
    task: RunnableTask,
    resources: readonly string[],
    before: Pick<RunnableTask, 'source' | 'settings'>,
    writes: readonly Write[],
  ): Promise<void> {
    const { id, epoch } = task
    const { source, settings } = before
    this.deterministic.changing.set(id, task)
    try {
      await this.#take({ k: 'change', t: id, e: epoch, r: resources, b: { source, settings } }, writes)
    } finally {
      if (this.deterministic.changing.get(id) === task) this.deterministic.changing.delete(id)
    }
  }

  async #beginLate(task: RunnableTask): Promise<void> {
    try {
      const delivered = await this.deliveries.count(task.id, task.epoch)
      await this.#begin(task, await this.#resources(task), delivered)
    } catch (error) {
      if (isAway(error)) throw error
      this.#fail(task, messageOf(error))
    }
  }

  async #forget(id: string): Promise<void> {
    const writes = await this.#forgetting(id)
    await this.#take({ k: 'forget', t: id }, writes)
    this.#checkpoints.gone(id)
  }

  async #forgetting(id: string): Promise<readonly Write[]> {
    const { store } = this.#dependencies
    const deliveries = await this.deliveries.forgetting(id)
    return [
      store.collection(STATES).deleting(id),
      ...withoutParts(store, id, 0, (await store.collection(STATES).get(id))?.value.parts ?? 0),
      ...deliveries,
    ]
  }

  async #resources({ id, source, settings }: RunnableTask): Promise<readonly string[]> {
    const prepared = this.#dependencies.preparer.prepare(source, settings)
    return resolveResources(id, prepared, this.#dependencies.engine.ports ?? {})
  }

  async #states(ids: readonly string[]): Promise<ReadonlyMap<string, StateRecord>> {
    const states = this.#dependencies.store.collection(STATES)
    const found = new Map<string, StateRecord>()
    for (let i = 0; i < ids.length; i += 1000) {
      for (const { id, value } of await states.getMany(ids.slice(i, i + 1000))) {
        found.set(id, value.parts !== undefined ? await joinedState(this.#dependencies.store, id, value) : value)
        this.#checkpoints.known(id, value)
      }
    }
    return found
  }

  #answered(reply: Reply, input: Answer): void {
    const isOfTheEnd = this.#isClosing && 'ok' in reply && !reply.ok
    if (!isOfTheEnd) this.#takeAnswer(input)
  }

  #takeAnswer(input: Answer): void {
    if (this.#isClosed) return
    void this.#take(input).catch((error: unknown) => {
      // an outcome from outside cannot be requested again, so it waits for the store
      if (isAway(error)) {
        this.#dependencies.scheduler.schedule(() => this.#takeAnswer(input), AWAY_MS)
        return
      }
      this.#dependencies.engine.logger?.error(`a result for task ${input.t} was not stored: ${messageOf(error)}`)
    })
  }

  #isLater(plug: string): void {
    if (this.laterKinds.has(plug)) return
    this.laterKinds.add(plug)
    void this.#take({ k: 'later', p: plug }).catch(() => this.laterKinds.delete(plug))
  }

  #fail(task: RunnableTask, error: string): void {
    this.#dependencies.ended({ task, status: 'failed', time: this.#dependencies.scheduler.now(), error })
  }

  #allResumed(): void {
    this.#resumedAll?.unsubscribe()
    this.#recovery = undefined
  }

  #afterwards(): void {
    for (const run of this.#ended.splice(0)) {
      const storing = this.deliveries.store(run.task.id)
      if (storing === undefined) this.#dependencies.ended(run)
      else void storing.then(() => this.#dependencies.ended(run))
    }
    this.#signs.arm()
    this.#arm()
  }

  #arm(): void {
    const next = this.#isClosed || this.#log.size > 0 ? undefined : this.deterministic.nextAt
    if (next === this.#wakeAt) return
    this.#wake?.unsubscribe()
    this.#wakeAt = next ?? Number.POSITIVE_INFINITY
    if (next === undefined) return
    const { scheduler, restMs } = this.#dependencies
    const now = scheduler.now()
    const rest = Math.min(restMs, this.#wokenAt + restMs - now)
    this.#wake = scheduler.schedule(
      () => {
        this.#wakeAt = Number.POSITIVE_INFINITY
        this.#wokenAt = scheduler.now()
        this.catchUp()
        this.#arm()
      },
      Math.min(Math.max(0, next - now, rest, this.#stall.queryAgainAt - now), SLEPT_MS),
    )
  }
}

function planned(
  carryOut: (writes: readonly Write[]) => Promise<void>,
  resources: readonly string[] = [],
): PlannedChange {
  return { writes: [], resourceIds: [...new Set(resources)], carryOut, apply: () => carryOut([]) }
}

export function closed(): AppError {
  return new AppError('CLOSED', 'the runner is closed')
}
