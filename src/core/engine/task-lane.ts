/**
 * Processes the inputs of one task one after the other, and calls plugs one at a time.
 *
 * LANE-1 the next input is taken when all calls of the previous input were made and no sensor's plug is at work or
 *   waits to be retried.
 * LANE-2 inputs are taken in order of time; at the same time, the rule's own timers first, then in order of arrival.
 * LANE-3 acting calls do not hold the lane; each begins when earlier calls on the same thing are over.
 * LANE-4 the queue is bounded: the oldest waiting message or call is dropped, counted and logged.
 */
import type { Plug } from '../plug/plug.ts'
import { NO_ANSWER } from '../plug/result.ts'
import type { CarriedOver } from '../task/carry-over.ts'
import { earliestAct, earliestDue } from '../task/due-timer.ts'
import { nextCall } from '../task/advance.ts'
import { armTimeout, enqueueEffect } from '../task/execution.ts'
import type { Input, LaneInput, TimerKind, WaitingInput } from '../task/input.ts'
import type { Message, Sent } from '../task/origin.ts'
import { restoreState } from '../task/restore.ts'
import { dropEffect } from '../task/result.ts'
import type { TaskModel, TaskRun } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import { isHeldAlready, noteArrival, sortTimeOf } from '../task/readings/admit.ts'
import { isIdleBefore } from '../task/readings/idle.ts'
import type { DataInput, WaitingReading } from '../task/readings/reorder.ts'
import { afterEvaluation, continueWith, isClockTimer, isOver, measurementTime, step } from '../task/step.ts'
import { TaskState } from '../task/task-state.ts'
import { traceLog } from '../task/trace.ts'
import { AheadCalls, type AheadCall } from './ahead-calls.ts'
import { callPlug, type Outcome } from './call-plug.ts'
import type { Counting } from './counts.ts'
import type { KeptMessages } from './host-control.ts'
import type { Journal, JournaledTask, Reply } from './journal.ts'
import type { OpenCount } from './open-count.ts'
import { isRendered, renderCall, renderingNeedsPorts, type Rendered } from './render-call.ts'
import type { TaskHooks } from './task-hooks.ts'
import type { TimerQueue } from './timer-queue.ts'
import type { TimerOwner } from './timer-table.ts'
import { isData, isFinal, keptIndexes } from './lane-inputs.ts'
import { makeRoom } from './make-room.ts'

export interface LaneHost {
  enqueue(work: (now: number) => void): void
  readonly open: OpenCount
  readonly timers: TimerQueue
  delay(ms: number, work: () => void): void
  /** returns the ms by which a simulation delays results of a node's plug */
  readonly latency: ((execution: Execution) => number) | undefined
  readonly journal: Journal | undefined
  readonly timed: (() => () => void) | undefined
  readonly counts: Counting
  readonly globalSettings: Readonly<Record<string, unknown>>
  readonly later: WeakSet<Plug>
  readonly kept: KeptMessages
  readonly waiting: { count: number; maxLag: number }
}

export interface LaneOwner extends JournaledTask, TimerOwner {
  /** Whether the task still uses this lane: a restarted task has another. */
  isCurrent(lane: TaskLane): boolean
  mistake(error: unknown): void
  serve(mayFail: boolean): void
  after(): void
}

export class TaskLane implements TaskRun {
  model: TaskModel
  state: TaskState
  readonly sink: TaskHooks
  now: number
  at: number
  readonly #owner: LaneOwner
  readonly #host: LaneHost
  /** true when a timer of the rule became due while the lane was held */
  #hasDue = false
  #ahead: AheadCalls | undefined

  constructor(owner: LaneOwner, host: LaneHost, parts: Pick<TaskLane, 'model' | 'state' | 'sink'>, now: number) {
    this.#owner = owner
    this.#host = host
    this.model = parts.model
    this.state = parts.state
    this.sink = parts.sink
    this.now = now
    this.at = now
  }

  take(now: number, input: Input): void {
    this.#host.counts.steps++
    try {
      if (input.kind === 'stop') {
        this.#host.counts.dropped += this.state.waiting.length + this.#held
        this.forgetWaiting()
      }
      step(this, now, input, now)
      this.#goOn(now)
    } catch (error) {
      this.#owner.mistake(error)
    }
    this.#owner.after()
  }

  arrive(now: number, input: LaneInput): void {
    if (this.state.isFree && this.state.readings === null) {
      this.#begins(0)
      this.take(now, input)
    } else if (this.state.isFree && this.state.status === 'running') {
      // Timers that are due before this input in the time of the task act first.
      this.#hasDue = true
      if (isData(this.state.wait(now, input))) this.#host.waiting.count++
      this.#work(now)
    } else if (this.state.status === 'running') {
      this.#wait(now, input)
      this.#owner.after()
    }
  }

  arriveData(now: number, messages: readonly Message[], sent: Sent | undefined): void {
    if (this.state.status !== 'running') return
    const isNoted = noteArrival(this, now, messages, sent)
    const input: DataInput = { kind: 'data', messages, sent, ...(isNoted && { arrived: now }) }
    if (!isNoted || !this.#hold(now, input)) this.arrive(now, input)
  }

  /** Holds an input that must wait for earlier readings. Returns false if it need not wait. */
  #hold(now: number, input: DataInput): boolean {
    const { readings } = this.state
    if (readings === null || this.model.settings.reorderMs === 0) return false
    // Messages that run no sensor are also put in order, so that repetitions are recognized.
    const time = sortTimeOf(this, input.messages, now)
    if (readings.isBehind(time)) return false
    if (!isHeldAlready(this, input.messages)) {
      this.#host.waiting.count++
      const full = readings.reordering.hold({ time, arrived: now, input, kept: keptIndexes(this.#host.kept, input) })
      if (full !== undefined) this.#enter(now, full)
    }
    this.#releaseBy(now)
    return true
  }

  #releaseBy(now: number): void {
    const { readings } = this.state
    if (readings === null) return
    for (const { clock, held } of readings.reordering.release(now)) this.#enter(clock, held)
    const next = readings.reordering.earliest
    if (next !== Number.POSITIVE_INFINITY) this.sink.timer('release', next, 0)
    if (this.state.isFree) this.#owner.after()
    else this.#work(now)
  }

  #enterFirst(clock: number, list: readonly WaitingReading[]): void {
    const { state } = this
    const others = state.waiting
    state.waiting = []
    for (const { input, kept } of list) state.wait(clock, input, kept)
    state.waiting.push(...others)
  }

  #enter(clock: number, { input, kept }: WaitingReading): void {
    this.#host.waiting.count--
    this.#hasDue = true
    if (!this.state.isFree) return this.#wait(clock, input, kept)
    this.state.wait(clock, input, kept)
    this.#host.waiting.count++
  }

  fire(kind: TimerKind, key: number, now: number): void {
    if (kind === 'release') return this.#releaseBy(now)
    if (kind === 'tick' || kind === 'ownTick') {
      // Readings from before the tick go first.
      for (const held of this.state.readings?.reordering.before(now - this.model.settings.reorderMs) ?? []) {
        this.#enter(now, held)
      }
    }
    if (isClockTimer(this, kind, key)) return this.take(now, { kind: 'timer', timer: kind, key })
    this.#hasDue = true
    if (this.state.isFree) this.#work(now)
  }

  takeDue(now: number): void {
    if (!this.state.isFree) return
    this.#hasDue = true
    this.#goOn(now)
  }

  resume(now: number): void {
    this.at = Math.max(this.at, now)
    this.#hasDue = !this.state.isFree
    this.#host.waiting.count += this.state.waiting.filter(isData).length + this.#held
    this.#work(now)
  }

  #work(now: number, first?: () => void): void {
    try {
      first?.()
      this.#goOn(now)
    } catch (error) {
      this.#owner.mistake(error)
    }
    this.#owner.after()
  }

  moveLimits(move: (limit: number, timeoutMs: number) => number): boolean {
    let hasMoved = false
    for (const execution of this.state.open) {
      if (execution.phase !== 'called' || execution.wakeAt === Number.POSITIVE_INFINITY) continue
      const limit = move(execution.wakeAt, execution.node.call.timeoutMs)
      hasMoved ||= limit !== execution.wakeAt
      execution.wakeAt = limit
    }
    return hasMoved
  }

  /** Continues under another rule. Calls of untouched nodes stay open; others are cancelled. */
  change(now: number, { model, state: saved, kept, dropped }: CarriedOver): void {
    const before = this.state
    const open = new Map<number, Execution>()
    const goesOn = new Set(saved.executing?.map(({ id }) => id))
    const executions = before.work?.inFlight
    for (const execution of executions ?? []) {
      if (goesOn.has(execution.id)) open.set(execution.id, execution)
      else {
        executions?.delete(execution)
        this.sink.cancelled(execution)
      }
    }
    this.#host.timers.forget(this.#owner)
    this.at = Math.max(this.at, now)
    if (before.isFree) this.now = Math.max(this.now, now)
    this.model = model
    this.state = new TaskState(model.graph, model.resources.length)
    this.sink.change(model, open.values())
    restoreState(this, saved, open)
    this.state.restoredAt = before.restoredAt
    this.#ahead?.change(model, (label) => !kept.runnable.has(label))
    this.#host.counts.dropped += dropped
    this.#hasDue = !this.state.isFree
  }

  goOnUnder(now: number, carried: CarriedOver): void {
    this.#work(now, () => continueWith(this, carried))
  }

  /** Continues an executor's call. `reply`: undefined: not called yet. `now`: the input's time; `at`: the clock's. */
  goOnWith(execution: Execution, reply: Outcome | Promise<Outcome> | undefined, now: number, at: number): void {
    this.now = now
    this.at = at
    this.#work(at, () => (reply === undefined ? this.#begin(execution) : this.#onReply(execution, reply)))
  }

  settle(id: number, call: number, reply: Reply): void {
    this.#host.enqueue((now) => {
      const execution = this.execution(id)
      if (execution !== undefined && this.#isOpen(execution, call)) this.#replied(execution, reply, now)
    })
  }

  execution(id: number): Execution | undefined {
    return this.state.work?.inFlight.find(id)
  }

  abandon(): void {
    this.forgetWaiting()
    for (const execution of this.state.open) this.sink.cancelled(execution)
  }

  giveUp(): void {
    for (const execution of this.state.open) this.sink.closed(execution)
    this.#ahead?.giveUp()
  }

  /** Subtracts this task's waiting messages from the engine's total, and drops their calls ahead. */
  forgetWaiting(): void {
    this.#host.waiting.count -= this.state.waiting.filter(isData).length + this.#held
    this.#ahead?.dropAll()
  }

  get #held(): number {
    return this.state.readings?.reordering.list.length ?? 0
  }

  #forget(waiting: WaitingInput | undefined): void {
    if (waiting !== undefined && isData(waiting)) this.#host.waiting.count--
  }

  #isOpen(execution: Execution, call: number): boolean {
    const isCalled = execution.phase === 'called' || execution.phase === 'rendering'
    return isCalled && execution.calls === call && execution.isInFlight && this.#owner.isCurrent(this)
  }

  #replied(execution: Execution, reply: Reply, now: number): void {
    this.#host.counts.steps++
    if (execution.node.kind === 'actuator') this.#owner.serve(!reply.ok)
    this.at = Math.max(this.at, now)
    this.#work(now, () => this.#settle(execution, reply, now))
  }

  #goOn(clock: number): void {
    do {
      this.#callAll()
      // The evaluation may end without a step while a call stays open.
      if (this.model.settings.type === 'onetime' || this.model.schedule?.fixedDelay === true) afterEvaluation(this)
    } while (this.state.status === 'running' && this.state.holder === null && this.#takeNext(clock))
  }

  #takeNext(clock: number): boolean {
    const { state } = this
    if (isOver(this)) {
      this.forgetWaiting()
      state.waiting = state.waiting.filter(({ input }) => input.kind === 'resume')
    }
    const head = state.waiting[0]
    if (this.#takeTimers(head, clock)) return true
    if (head === undefined) {
      this.#hasDue = false
      return false
    }
    state.waiting.shift()
    this.#forget(head)
    this.#host.counts.steps++
    this.#begins(head.number)
    const { waiting } = this.#host
    waiting.maxLag = Math.max(waiting.maxLag, clock - head.time)
    step(this, head.time, head.input, clock, head.time)
    if (state.waiting.length > 0) this.#callAhead(clock)
    return true
  }

  /** Runs timers that are due before an input, or before the clock. Returns false if none is. */
  #takeTimers(head: WaitingInput | undefined, clock: number): boolean {
    const until = head?.time ?? clock
    const { readings } = this.state
    if (!this.#hasDue && readings === null && (this.#host.timers.earliest[0] as number) > until) return false
    const due = earliestDue(this)
    if (due === Number.POSITIVE_INFINITY) return false
    let acts = due
    if (readings !== null) {
      // The clock lets this timer and earlier ones act, unless an input with a later time does so first.
      acts = earliestAct(this)
      const headTime = head && measurementTime(this, head.time, head.input)
      if (headTime !== undefined && !readings.isBehind(headTime)) {
        if (due > headTime && acts === until) return false
        if (due <= headTime) acts = Math.min(acts, until)
      } else if (head !== undefined && acts === until && isIdleBefore(this, head.input, due)) return false
    }
    if (acts > until) return false
    const earlier = readings?.reordering.before(due) ?? []
    if (earlier.length > 0) {
      this.#enterFirst(acts, earlier)
      return this.#takeNext(clock)
    }
    this.#host.counts.steps++
    step(this, readings === null ? Math.max(due, this.now) : due, { kind: 'timers' }, clock, acts)
    return true
  }

  rest(): void {
    this.#begins(0)
  }

  #begins(number: number): void {
    const { state } = this
    if (state.current !== 0) this.#ahead?.drop(state.current)
    state.current = number
  }

  #callAll(): void {
    for (let next = nextCall(this); next !== undefined; next = nextCall(this)) this.#begin(next)
  }

  #begin(execution: Execution): void {
    if (this.#mustEnqueue(execution)) this.#render(execution)
    else this.#call(execution)
  }

  /** Whether an acting call may have to queue, or needs its properties to determine what it touches. */
  #mustEnqueue({ node, touches }: Execution): boolean {
    if (touches !== null) return false
    const isAlone = this.state.effectQueues.size === 0
    if (node.kind === 'sensor') return !isAlone && node.call.plug.acts !== false
    return !isAlone || node.call.needs !== undefined || node.call.loop !== undefined
  }

  #mayCall(execution: Execution): boolean {
    const { journal } = this.#host
    return journal?.mayCall === undefined || journal.mayCall(this.#owner, execution)
  }

  #call(execution: Execution): void {
    const early = this.#early(execution)
    if (early !== undefined) return this.#useEarly(execution, early)
    // If the plug may not be called, its result comes through `settle`.
    this.#onReply(execution, this.#mayCall(execution) ? callPlug(this, execution, this.sink) : undefined)
  }

  /** Returns the call that may have begun ahead: only the first call of a root sensor can. */
  #early({ node, via, attempt, calls, items }: Execution): AheadCall | undefined {
    if (this.#ahead === undefined || node.kind === 'actuator' || via !== null) return undefined
    return attempt === 0 && calls === 1 && items === null ? this.#ahead.take(this.state.current, node.label) : undefined
  }

  #useEarly(execution: Execution, { reply, outcome, beganAt, lines }: AheadCall): void {
    this.#callAhead(this.at)
    for (const { level, message } of lines) traceLog(this, level, message, execution.node.label)
    if (outcome !== undefined) return this.#onReply(execution, outcome)
    // With a journal, the result is used when it is durable.
    this.#await(execution, this.#host.journal === undefined ? Promise.resolve(reply) : undefined, 0, beganAt)
  }

  #callAhead(clock: number): void {
    const { journal } = this.#host
    // A replay already has the results.
    if (journal?.mayCall !== undefined || !this.model.graph.sensors.some(({ call }) => call.ahead !== undefined)) return
    this.#ahead ??= new AheadCalls(this.model, this.#host, this.#owner)
    this.#ahead.begin(this.state.waiting, clock)
  }

  settleAhead(number: number, label: string, outcome: Outcome): void {
    this.#host.enqueue((now) => {
      const { state } = this
      if (state.current !== number) {
        if (!state.waiting.some((one) => one.number === number)) return
        this.#ahead ??= new AheadCalls(this.model, this.#host, this.#owner)
        return this.#ahead.answered(number, label, outcome, now)
      }
      const node = this.model.graph.byLabel.get(label)
      const execution = node?.kind === 'sensor' ? state.work?.sensors[node.slot]?.running : undefined
      // Only the first attempt may use the result of a call ahead; later attempts make their own calls.
      const isFirstCall = execution?.phase === 'called' && execution.via === null && execution.attempt === 0
      if (isFirstCall) this.#replied(execution, outcome, now)
    })
  }

  #onReply(execution: Execution, reply: Outcome | Promise<Outcome> | undefined): void {
    const isOver = reply !== undefined && !(reply instanceof Promise) && isFinal(reply)
    const wasQueued = execution.touches !== null
    if (execution.node.kind === 'actuator' && execution.touches === null && !isOver) this.#queueEffect(execution)
    const latency = this.#host.latency?.(execution) ?? 0
    if (reply === undefined || reply instanceof Promise) this.#await(execution, reply, latency)
    else if (latency > 0) this.#await(execution, Promise.resolve(reply), latency)
    else {
      if (wasQueued) this.#host.journal?.gave(this.#owner, execution, reply)
      this.#settle(execution, reply, this.now)
    }
  }

  #render(execution: Execution): void {
    // A replay has no recorded result for properties that need nothing from outside.
    const mayRender = !renderingNeedsPorts(this, execution, this.sink) || this.#mayCall(execution)
    const rendered = mayRender ? renderCall(this, execution, this.sink) : undefined
    // Retries see the task at the firing, including retries that render again.
    if (execution.node.kind === 'actuator') this.sink.frozen(this, execution)
    if (rendered !== undefined && !(rendered instanceof Promise)) return this.#settle(execution, rendered, this.now)
    execution.phase = 'rendering'
    this.state.holder = execution
    this.#await(execution, rendered, 0)
  }

  #queueEffect(execution: Execution): void {
    const rendered = renderCall(this, execution, this.sink)
    const { node, member } = execution
    const keys = [member === null ? `node:${node.label}` : `node:${node.label}/${member}`]
    const known = rendered instanceof Promise || !rendered.ok ? { rendered: null, touches: keys } : rendered
    this.sink.frozen(this, execution)
    enqueueEffect(this, execution, known.rendered, known.touches)
  }

  #rendered(execution: Execution, { rendered, items, touches }: Rendered): void {
    if (rendered.length === 0) return this.#settle(execution, NO_ANSWER, this.now)
    execution.items = items ?? null
    execution.phase = 'queued'
    execution.wakeAt = Number.POSITIVE_INFINITY
    if (enqueueEffect(this, execution, rendered, touches)) return
    const { journal } = this.#host
    journal?.waits(this.#owner, execution)
    const { effectQueues } = this.state
    while (effectQueues.behind > this.model.maxWaiting) {
      const oldest = effectQueues.oldestBehind
      if (oldest === undefined) break
      this.#dropped('an actuator call that waited for earlier calls on the same target was dropped')
      const error = `dropped while it waited: ${this.model.maxWaiting} later calls wait for earlier calls on the same target`
      journal?.gave(this.#owner, oldest, { ok: false, error })
      dropEffect(this, oldest, error)
    }
  }

  #await(execution: Execution, answer: Promise<Reply | undefined> | undefined, latency: number, since = this.at): void {
    armTimeout(this, execution, since)
    const { journal, timed, later } = this.#host
    const { calls } = execution
    this.sink.opened(execution)
    journal?.opened(this.#owner, execution)
    later.add(execution.node.call.plug)
    if (answer === undefined) return
    const noted = timed?.()
    void answer.then((reply) => {
      noted?.()
      if (reply !== undefined) this.#cameBack(execution, calls, reply, latency)
    })
  }

  #cameBack(execution: Execution, call: number, reply: Reply, latency: number): void {
    const { journal, enqueue, delay } = this.#host
    const take = (now: number): void => {
      if (this.#isOpen(execution, call)) this.#replied(execution, reply, now)
    }
    if (!this.#isOpen(execution, call)) return
    if (journal !== undefined) journal.answered(this.#owner, execution, call, reply)
    else if (latency === 0) enqueue(take)
    else {
      this.sink.closed(execution)
      delay(latency, () => enqueue(take))
    }
  }

  /** `now`: time of the input for a synchronous reply, otherwise of the clock. */
  #settle(execution: Execution, reply: Reply, now: number): void {
    this.sink.ended(execution)
    if (!reply.ok) step(this, now, { kind: 'error', execution, failure: reply }, this.at)
    else if (isRendered(reply)) this.#rendered(execution, reply)
    else step(this, now, { kind: 'answer', execution, answer: reply }, this.at)
  }

  #wait(now: number, input: LaneInput, kept = keptIndexes(this.#host.kept, input)): void {
    const { state, model } = this
    const { mayWait, dropped, why } = makeRoom(state, model, input)
    for (const one of dropped) {
      this.#forget(one)
      this.#ahead?.drop(one.number)
    }
    const count = dropped.length + (mayWait ? 0 : 1)
    for (let i = 0; i < count; i++) this.#dropped(why)
    if (!mayWait) return
    const waiting = state.wait(now, input, kept)
    if (!isData(waiting)) return
    this.#host.waiting.count++
    this.#callAhead(now)
  }

  /** Counts a dropped input or call, and logs the first, tenth, hundredth and so on. */
  #dropped(why: string): void {
    const { state } = this
    state.dropped++
    this.#host.counts.dropped++
    if (!Number.isInteger(Math.log10(state.dropped))) return
    const count = state.dropped === 1 ? 'the first' : `${state.dropped} so far`
    traceLog(this, 'WARN', `${why}, ${count}; inputs arrive faster than the task processes them`)
  }
}
